"""Files made of a ledger's frames, one each, and the citation in each of them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from pandas.api.types import is_numeric_dtype

from rse_study.errors import InputError
from rse_study.results.comparing.comparisons import objectives_of
from rse_study.results.comparing.contrasts import read_effects
from rse_study.results.comparing.item_contrasts import crossed_frame, measured_items
from rse_study.results.comparing.planned import read_planned
from rse_study.results.reader import Reader
from rse_study.results.row_names import names_of_cells
from rse_study.results.study_record import StudyRecord
from rse_study.spec import canonical_json, fingerprint_of

SHOWN = 12  # digits of a fingerprint


def citation(reader: Reader) -> str:
    """Return the citation below a report and in every exported file."""
    revision = int(reader.revisions()["number"].iloc[-1])
    return citation_of(reader.study(), revision, reader.provenance() or reader.cells()["provenance"])


def citation_of(study: StudyRecord, revision: int, runs: Iterable[Mapping[str, Any]]) -> str:
    """Return the citation by the newest run, without unknown fingerprints.

    If no run is on record, the newest cell stands for it.
    """
    newest: Mapping[str, Any] = next(reversed(list(runs)), {})
    packages = newest.get("packages", {})
    prints = {"study": study.resolved, "data": study.fingerprints, "materials": newest.get("materials")}
    shown = [f"{name} {fingerprint_of(content)[:SHOWN]}" for name, content in prints.items() if content]
    parts = [
        f"rse_study {packages.get('rse-study', 'of unknown version')}",
        *([f"code {newest['code']}"] if newest.get("code") else ()),
        *([f"torch {packages['torch']}"] if "torch" in packages else ()),
        f"study {study.name!r}, revision {revision}",
        *([f"sha256 of {', '.join(shown)}"] if shown else ()),
    ]
    return "; ".join(parts) + "."


FORMULA = re.compile(r"[=@]|[-+](?!(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$)")


def write_tables(reader: Reader, folder: Path, kind: Literal["parquet", "csv"]) -> list[Path]:
    """Write every frame to a file in a folder, and return the files.

    Dicts, lists and columns of mixed types become JSON text. Retired cells are left out. A row with a name of
    its own also has values in the axis columns: those that ran.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return [_write(flat(frame), folder / f"{name}.{kind}", kind) for name, frame in _frames(reader)]
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror}", where=str(folder), remedy="Name another folder"
        ) from None


def flat(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert every column to one type: numbers, booleans or texts."""
    objects = [name for name in frame if frame[name].dtype == object]
    return frame.assign(**{name: _as_text(frame[name]) for name in objects})


def _frames(reader: Reader) -> Iterator[tuple[str, pd.DataFrame]]:
    yield "table", tidy_table(reader)
    yield "trials", _with_rows(reader, reader.trials_table(), "identity")
    yield "cells", _with_rows(reader, reader.cells(), "identity")
    yield "attempts", _with_rows(reader, reader.attempts(), "cell")
    yield "metrics", _with_rows(reader, reader.metrics(), "cell")
    yield "rungs", _with_rows(reader, reader.rungs(), "cell")
    scores = reader.evaluations().rename(columns={"seed": "evaluation_seed"})
    yield "evaluations", _with_rows(reader, scores, "subject")
    if reader.study().settings.grid.factorial:
        yield "effects", read_effects(reader).frame
    if reader.study().settings.contrasts:
        yield "planned", read_planned(reader).frame
    yield "crossed", crossed_frame(measured_items(reader))
    yield "importance", reader.importance()
    yield "revisions", reader.revisions()
    yield "provenance", _provenance(reader)
    yield "events", reader.events()


def tidy_table(reader: Reader) -> pd.DataFrame:
    """Return one row per cell: its settings that differ from others', and every score."""
    cells, scores = reader.cells().reset_index(drop=True), reader.evaluations()
    scores = scores[scores["subject"].isin(cells["identity"])]
    settings = pd.json_normalize(cells["config"].tolist())
    differing = settings.loc[:, settings.astype(str).nunique() > 1]
    frame = cells[["identity", "stage", "trial", "seed", "status"]]
    frame = frame.assign(objective=cells["identity"].map(objectives_of(reader)))
    frame.insert(0, "row", names_of_cells(reader.study(), cells))
    wide = scores.pivot(index="subject", columns="metric", values="value")
    return frame.join(differing).join(wide, on="identity")


def _with_rows(reader: Reader, frame: pd.DataFrame, of: str) -> pd.DataFrame:
    cells, study = reader.cells(), reader.study()
    names = study.baselines | dict(zip(cells["identity"], names_of_cells(study, cells), strict=True))
    frame = frame.copy()
    frame.insert(0, "row", pd.Series([names.get(one, "") for one in frame[of]], dtype=object))
    return frame


def _provenance(reader: Reader) -> pd.DataFrame:
    runs = [dict(run) for run in reader.provenance()]
    return pd.DataFrame({"at": [run.pop("at") for run in runs], "content": runs}, dtype=object)


def _as_text(column: pd.Series) -> pd.Series:
    """Write every value as JSON in a column that does not hold texts alone."""
    present = column.dropna()
    if all(isinstance(value, str) for value in present):
        return column
    return column.map(canonical_json, na_action="ignore")


def csv_text(frame: pd.DataFrame, **options: Any) -> str:
    """Return a frame as CSV in which a spreadsheet computes no text as a formula.

    A text that begins with = + - or @, and is no number, gets an apostrophe before it.
    """
    plain = frame.apply(lambda column: column if is_numeric_dtype(column) else column.map(_no_formula))
    return str(plain.rename(columns=_no_formula).to_csv(index=False, **options))


def _no_formula(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and FORMULA.match(value) else value


def _write(frame: pd.DataFrame, path: Path, kind: Literal["parquet", "csv"]) -> Path:
    if kind == "parquet":
        frame.to_parquet(path, index=False)
    else:
        path.write_text(csv_text(frame), encoding="utf-8", newline="")
    return path
