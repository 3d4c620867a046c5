"""A study that has run, for notebooks: question, state, and tidy frames.

`rse_study.open_study` opens one. Names, columns and dtypes are stable; docs/notebooks.md lists them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from rse_study.errors import InputError
from rse_study.registry import did_you_mean
from rse_study.results.archive import unpack_archive
from rse_study.results.comparing.contrasts import contrasts_frame, read_effects
from rse_study.results.comparing.item_contrasts import crossed_frame, measured_items
from rse_study.results.comparing.planned import read_planned
from rse_study.results.device_time import gpus_per_worker, num_devices
from rse_study.results.export import citation, tidy_table
from rse_study.results.files.attack_file import is_attack_folder
from rse_study.results.files.schema import cell_folder, is_archive, ledger_path
from rse_study.results.frame_columns import COLUMNS, describe_columns, with_columns
from rse_study.results.reader import HAS_RESULT, Reader
from rse_study.results.row_names import names_of_cells
from rse_study.results.study_record import StudyRecord
from rse_study.search.choice import chosen_first
from rse_study.search.state import SearchState, describe_counts

OF_A_CELL = ["row", "stage", "trial", "seed"]


def cells_frame(reader: Reader) -> pd.DataFrame:
    """Return one row per cell, by trial and seed, with a column per axis at the end."""
    study, cells = reader.study(), _named_cells(reader)
    last = reader.last_points(study.objective.metric)
    axes = {
        heading: [proposal.get(axis.name) for proposal in cells["proposal"]]
        for axis, heading in zip(study.axes, study.headings, strict=True)
    }
    status = cells["identity"].map(reader.statuses_for_next_run())
    values = {
        "status": status,
        "objective": cells["identity"].map(last["value"]).astype(float).where(status.isin(HAS_RESULT)),
        "t": cells["identity"].map(last["t"]),
        "started": times(cells["started"]),
        "ended": times(cells["ended"]),
    }
    return with_columns(cells.assign(**values), "cells").assign(
        **{heading: pd.Series(column, dtype=object).infer_objects() for heading, column in axes.items()}
    )


def metrics_frame(reader: Reader) -> pd.DataFrame:
    """Return one row per metric value, by trial, seed and step."""
    return with_columns(_beside_cell(reader, reader.metrics()), "metrics")


def attempts_frame(reader: Reader) -> pd.DataFrame:
    """Return one row per attempt, by trial, seed and number."""
    attempts = _beside_cell(reader, reader.attempts())
    started, ended = times(attempts["started"]), times(attempts["ended"])
    seconds = (ended - started).dt.total_seconds()
    devices = num_devices(attempts, gpus_per_worker(reader.cells()["provenance"], reader.provenance()))
    return with_columns(
        attempts.assign(started=started, ended=ended, duration_s=seconds, device_s=seconds * devices),
        "attempts",
    )


def evaluations_frame(reader: Reader) -> pd.DataFrame:
    """Return one row per score of a cell or a baseline."""
    study, rows = reader.study(), reader.evaluations()
    cells = _named_cells(reader).set_index("identity")
    is_cell = rows["subject"].isin(cells.index)
    rows = rows[is_cell | rows["subject"].isin(list(study.baselines))].reset_index(drop=True)
    own = cells[OF_A_CELL].reindex(rows["subject"]).reset_index(drop=True)
    kind = rows["subject"].isin(cells.index).map({True: "cell", False: "baseline"})
    return with_columns(
        rows.assign(
            kind=kind,
            row=own["row"].where(own["row"].notna(), rows["subject"].map(study.baselines)),
            stage=own["stage"].where(own["stage"].notna(), ""),
            trial=own["trial"],
            seed=own["seed"],
            less_is_better=[study.is_less_better(metric) for metric in rows["metric"]],
        ),
        "evaluations",
    )


def importance_frame(reader: Reader) -> pd.DataFrame:
    """Return one row per axis and evaluator, most important first."""
    study, rows = reader.study(), reader.importance()
    headings = study.heading_of
    return with_columns(rows.assign(axis=[headings.get(name, name) for name in rows["axis"]]), "importance")


def times(stamps: pd.Series) -> pd.Series:
    """Parse the ledger's ISO 8601 times (UTC); an empty one becomes NaT."""
    return pd.to_datetime(stamps.where(stamps != "", None), utc=True, format="ISO8601")


def _named_cells(reader: Reader) -> pd.DataFrame:
    cells = reader.cells()
    return cells.assign(row=names_of_cells(reader.study(), cells))


def _beside_cell(reader: Reader, frame: pd.DataFrame) -> pd.DataFrame:
    """Add the row name and stage of each entry's cell."""
    cells = _named_cells(reader).set_index("identity")
    own = cells[["row", "stage"]].reindex(frame["cell"])
    return frame.assign(row=own["row"].to_numpy(), stage=own["stage"].to_numpy())


MOST_ROWS = 12
HEADINGS = ("row", "seeds", "mean difference", "95%, all rows at once", "verdict")


def study_html(record: StudyRecord, state: str, contrasts: pd.DataFrame) -> str:
    """Return the HTML that Jupyter shows for a study, with the objective's contrasts."""
    objective = contrasts[contrasts["metric"] == ""]
    frames = ", ".join(f"<code>.{name}</code>" for name in COLUMNS)
    parts = [
        f"<h3>{escape(record.title or record.name)}</h3>",
        f"<p><i>{escape(record.question)}</i></p>" if record.question else "",
        f"<p>{escape(record.kind)}, {escape(state)}.</p>",
        _table(objective) if len(objective) else "<p>It compares no rows with a baseline.</p>",
        f"<p>Frames: {frames}; <code>.describe(FRAME)</code> says what their columns mean.</p>",
    ]
    return "\n".join(part for part in parts if part)


def _table(contrasts: pd.DataFrame) -> str:
    first = contrasts.iloc[0]
    head = "".join(f'<th style="text-align:left">{heading}</th>' for heading in HEADINGS)
    rows = "\n".join(_line(row) for row in contrasts.head(MOST_ROWS).to_dict("records"))
    left = len(contrasts) - MOST_ROWS
    more = f"<p>{left} more in <code>.contrasts</code>.</p>" if left > 0 else ""
    caption = f"{first['measure']}: each row minus {first['minus']}"
    return f"<p>{escape(caption)}</p>\n<table><tr>{head}</tr>\n{rows}\n</table>{more}"


def _line(row: dict[str, object]) -> str:
    decides = "anytime" if row["criterion"] == "anytime" else "simultaneous"
    texts = (
        str(row["row"]),
        str(row["num_seeds"]),
        _signed(row["mean"]),
        _interval(row[f"{decides}_low"], row[f"{decides}_high"]),
        str(row["verdict"]),
    )
    return "<tr>" + "".join(f'<td style="text-align:left">{escape(text)}</td>' for text in texts) + "</tr>"


def _signed(value: object) -> str:
    return "" if pd.isna(value) else f"{value:+.2f}"


def _interval(low: object, high: object) -> str:
    return "fewer than 3 seeds" if pd.isna(low) else f"[{_signed(low)}, {_signed(high)}]"


ATTACKS = "attacks"  # folder in a cell's folder
Read = TypeVar("Read")


class BestTrial(NamedTuple):
    """The trial that a search would choose first, and what fresh seeds say of it."""

    trial: int
    settings: dict[str, Any]
    """its value on each axis"""
    score: float
    """mean of the objective over the confirming cells; NaN before any is complete"""
    num_seeds: int


@dataclass(frozen=True, repr=False)
class StudyResults:
    """Results of a study, read once: open the study again to see newer results."""

    folder: Path
    record: StudyRecord
    """The study as it was frozen: kind, objective, axes, evaluations."""
    as_optuna: Callable[[Path], Any]
    """reads a folder's trials as a study of Optuna"""

    @property
    def name(self) -> str:
        return self.record.name

    @property
    def question(self) -> str:
        return self.record.question

    @cached_property
    def cells(self) -> pd.DataFrame:
        """One row per cell, with a column for each axis after the fixed ones."""
        return self._read(cells_frame)

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per cell: the settings that differ between cells, and every score."""
        return self._read(tidy_table)

    @cached_property
    def metrics(self) -> pd.DataFrame:
        return self._read(metrics_frame)

    @cached_property
    def evaluations(self) -> pd.DataFrame:
        """One row per score of a cell or a baseline."""
        return self._read(evaluations_frame)

    @cached_property
    def contrasts(self) -> pd.DataFrame:
        """One row per measure and row: difference from the baseline, paired by seed."""
        return self._read(contrasts_frame)

    @cached_property
    def effects(self) -> pd.DataFrame:
        """One row per measure and effect of a factorial design; empty for other studies."""
        return self._read(read_effects).frame

    @cached_property
    def planned(self) -> pd.DataFrame:
        """One row per measure and contrast that the study's file plans."""
        return self._read(read_planned).frame

    @cached_property
    def crossed(self) -> pd.DataFrame:
        """One row per measure and row: `contrasts` for new seeds and for new items, too."""
        return crossed_frame(self._read(measured_items))

    @cached_property
    def importance(self) -> pd.DataFrame:
        """One row per axis and evaluator; empty for a grid."""
        return self._read(importance_frame)

    @cached_property
    def attempts(self) -> pd.DataFrame:
        return self._read(attempts_frame)

    @cached_property
    def state(self) -> str:
        """Number of planned, complete, failed and running cells, in words."""
        return describe_counts(self._read(SearchState.read).counts)

    @cached_property
    def citation(self) -> str:
        """One line that identifies the study: versions and fingerprints."""
        return self._read(citation)

    @cached_property
    def num_methods(self) -> int:
        """Number of different methods among the trials."""
        configs = self._read(Reader.cells)["config"]
        return len({(config.get("method") or {}).get("name", "") for config in configs})

    @cached_property
    def best(self) -> BestTrial:
        """The best trial of a search, by its name, settings and confirmed score.

        With several objectives, the knee of the front. Raises InputError for a grid, whose rows are compared in
        `contrasts`, and before a trial is complete.
        """
        if self.record.kind == "grid":
            raise InputError(
                "a grid has no best trial", where=self.name, remedy="`contrasts` compares its rows"
            )
        complete = self.cells[self.cells["status"] == "complete"].set_index("identity")
        ordered = chosen_first(self._read(SearchState.read).standings, self.record.directions)
        first = next((complete.loc[key] for key in ordered if key in complete.index), None)
        if first is None:
            raise InputError("no trial is complete yet", where=self.name)
        is_fresh = (complete["stage"] == "confirm") & (complete["trial"] == first["trial"])
        fresh = complete.loc[is_fresh, "objective"]
        settings = {axis: first[axis] for axis in self.record.headings if pd.notna(first[axis])}
        return BestTrial(int(first["trial"]), settings, float(fresh.mean()), len(fresh))

    def optuna(self) -> Any:
        """Return the trials as an `optuna.Study`, to go on with Optuna's own."""
        return self.as_optuna(self.folder)

    @property
    def attack_folders(self) -> dict[str, Path]:
        """Folders of attacked texts by cell identity, which `read_attacks` reads."""
        folders = {name: cell_folder(self.folder, name) / ATTACKS for name in self.cells["identity"]}
        return {name: folder for name, folder in folders.items() if is_attack_folder(folder)}

    def contrasts_with(self, row: str) -> pd.DataFrame:
        """Return `contrasts` against another row or baseline, or raise InputError."""
        return self._read(lambda reader: contrasts_frame(reader, row))

    def describe(self, frame: str) -> pd.DataFrame:
        """Return a frame's columns with dtype and meaning, or raise InputError."""
        if frame not in COLUMNS:
            raise InputError(f"no frame {frame!r}", where=self.name, remedy=did_you_mean(frame, COLUMNS))
        return describe_columns(frame)

    def _read(self, read: Callable[[Reader], Read]) -> Read:
        with Reader(self.folder) as reader:
            return read(reader)

    def __repr__(self) -> str:
        return f"<study {self.name!r}: {self.state}>"

    def _repr_html_(self) -> str:
        return study_html(self.record, self.state, self.contrasts)


def open_results(name: str | Path, store: str | Path, as_optuna: Callable[[Path], Any]) -> StudyResults:
    """Open a study that has run, by its name or its folder."""
    folder = _folder_of(str(name), Path(store))
    with Reader(folder) as reader:
        return StudyResults(folder, reader.study(), as_optuna)


def _folder_of(name: str, store: Path) -> Path:
    if is_archive(name):
        return unpack_archive(Path(name), store)
    plain = name.removesuffix(".yaml")
    for folder in (Path(name), store / plain, store / plain.replace("_", "-")):
        if ledger_path(folder).is_file():
            return folder
    known = sorted(path.parent.name for path in store.glob("*/ledger.sqlite"))
    if not known:
        remedy = "Run one (rse-study run STUDY), or name the folder of the studies: open_study(NAME, STORE)"
        raise InputError(f"no study {name!r}", where=str(store), rule="no study has run here", remedy=remedy)
    hint = did_you_mean(name, known)
    listed = "" if hint.startswith("Known") else f" Known: {', '.join(known)}"
    raise InputError(f"no study {name!r} has run", where=str(store), remedy=hint + listed)
