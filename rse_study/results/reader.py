"""Tidy pandas frames of a ledger, also while a run writes to it."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from rse_study.deferred import DeferredModule
from rse_study.results.files.connect import holder, open_study
from rse_study.results.files.queries import JSON_COLUMNS, LedgerQueries
from rse_study.results.files.result_file import FILE_NAME
from rse_study.results.files.schema import cell_folder, ledger_path, names_failures
from rse_study.results.records import WITHDRAWN, AttemptOutcome, CellRecord, Status, evaluation_name
from rse_study.results.study_record import StudyRecord

COUNTED: tuple[Status, ...] = ("complete", "stopped_early", "failed", "running")
HAS_RESULT: tuple[Status, ...] = ("complete", "stopped_early")
"""Only these cells have an objective; the last measurements of others are in their metrics."""


def status_for_next_run(study_dir: Path, identity: str, status: Status) -> Status:
    """Return a cell's status as the next run of its study finds it.

    A cell that failed without a result is planned: a lost process or input says nothing about its configuration.
    """
    has_result = status != "failed" or (cell_folder(study_dir, identity) / FILE_NAME).exists()
    return status if has_result else "planned"


def cells_for_next_run(ledger: LedgerQueries, study_dir: Path) -> list[CellRecord]:
    """Return the current cells of a study, with their status for the next run."""
    return as_next_run_finds([one for one in ledger.cells() if not one.retired], study_dir)


def as_next_run_finds(cells: Iterable[CellRecord], study_dir: Path) -> list[CellRecord]:
    """Return cells with their status for the next run."""
    found = ((one, status_for_next_run(study_dir, one.identity, one.status)) for one in cells)
    return [
        one if one.status == status else one.model_copy(update={"status": status}) for one, status in found
    ]


def count_cells(statuses: Iterable[Status], num_planned: int) -> dict[str, int]:
    """Count cells by status; `missing` ones were never begun, or lost and run next."""
    known = Counter(statuses)
    begun: dict[str, int] = {status: known[status] for status in COUNTED}
    return {"planned": num_planned, **begun, "missing": max(0, num_planned - sum(begun.values()))}


def is_lost(outcome: AttemptOutcome, status: Status) -> bool:
    """Whether an attempt ended without a result; the last one before giving up too."""
    return outcome == "lost" or (outcome == "failed" and status == "planned")


if TYPE_CHECKING:
    import pandas as pd
else:  # `status` and `studies` read records alone
    pd = DeferredModule("pandas")

ReadFrame = TypeVar("ReadFrame", bound=Callable[..., Any])


def once(read: ReadFrame) -> ReadFrame:
    """Cache a frame inside `with`: a comparison reads it up to 8 times."""

    @wraps(read)
    def answer(self: "Reader", *args: Any, **named: Any) -> "pd.DataFrame":
        if self._frames is None:
            return read(self, *args, **named)
        asked = (read.__name__, args, *named.items())
        if asked not in self._frames:
            self._frames[asked] = read(self, *args, **named)
        return self._frames[asked].copy(deep=False)

    return cast(ReadFrame, answer)


@names_failures
class Reader:
    """A read-only view of a study's ledger, without retired cells unless requested.

    Inside `with`, all frames come from one snapshot, whatever a run writes meanwhile.
    """

    def __init__(self, study_dir: Path) -> None:
        self.study_dir = study_dir
        self._db = open_study(study_dir)
        self._frames: dict[tuple[Any, ...], "pd.DataFrame"] | None = None

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> "Reader":
        self._db.execute("BEGIN")  # one snapshot, from the first SELECT on
        self._frames = {}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()

    @property
    def ledger(self) -> LedgerQueries:
        return LedgerQueries(self._db)

    def is_held(self) -> bool:
        return holder(self.study_dir) is not None

    def study(self) -> StudyRecord:
        return self.ledger.frozen_study(str(ledger_path(self.study_dir)))

    def records(self) -> list[CellRecord]:
        """Return the current cells, each with its status for the next run."""
        return cells_for_next_run(self.ledger, self.study_dir)

    def revisions(self) -> "pd.DataFrame":
        """Return one row per revision, oldest first: number, at, change, study (a dict)."""
        frame = self._read("SELECT * FROM revision ORDER BY number")
        frame["study"] = [json.loads(text) for text in frame["study"]]
        return frame

    @once
    def cells(self, retired: bool = False) -> "pd.DataFrame":
        """Return one row per cell with the columns of `CellRecord`, by trial and seed."""
        if not retired:
            frame = self.cells(retired=True)
            return frame[~frame["retired"]].reset_index(drop=True)
        frame = self._read("SELECT * FROM cell ORDER BY trial, seed, retired")
        frame["retired"] = frame["retired"].astype(bool)
        for column in JSON_COLUMNS:
            frame[column] = [json.loads(text) for text in frame[column]]
        return frame

    def attempts(self, retired: bool = False) -> "pd.DataFrame":
        """Return one row per attempt, by trial, seed and cell."""
        columns = "number, executor, workers, threads, own.started, own.ended, outcome, own.reason"
        return self._of_cells("attempt", columns, "number", retired)

    def metrics(self, retired: bool = False, name: str = "") -> "pd.DataFrame":
        """Return one row per metric value: cell, trial, seed, t, name, value."""
        wanted = "(SELECT * FROM metric WHERE ?2 IN ('', name))"
        return self._of_cells(wanted, "t, name, value", "t, name", retired, name).astype({"value": float})

    def thinned_metrics(self, bin_steps: int) -> "pd.DataFrame":
        """Return of each metric only the last point in every `bin_steps` steps.

        Retired cells are there, too. Cells are read one by one, so that memory holds no history as a whole.
        """
        query = (
            "SELECT cell, trial, seed, max(t) AS t, name, value FROM metric JOIN cell ON cell = identity"
            " WHERE cell = ?1 GROUP BY name, (t + ?2 - 1) / ?2 ORDER BY t, name"
        )
        identities = self._db.execute("SELECT identity FROM cell ORDER BY trial, seed, identity")
        frames = [self._read(query, identity, bin_steps) for (identity,) in identities.fetchall()]
        return pd.concat([frame for frame in frames if len(frame)]).reset_index(drop=True)

    def longest_history(self) -> tuple[int, int]:
        """Return the most points of a cell's history, and the last step of any."""
        return self._db.execute(
            "SELECT coalesce(max(points), 0), coalesce(max(last), 0) FROM (SELECT"
            " (SELECT count(*) FROM (SELECT DISTINCT t FROM metric WHERE cell = identity)) AS points,"
            " (SELECT max(t) FROM metric WHERE cell = identity) AS last FROM cell)"
        ).fetchone()

    def last_points(self, metric: str) -> "pd.DataFrame":
        points = self.ledger.last_points(metric)
        return pd.DataFrame.from_dict(points, orient="index", columns=["t", "value"])

    def final_values(self, metric: str) -> dict[str, float]:
        return self.ledger.final_values(metric)

    def collapsed(self) -> frozenset[str]:
        """Return the cells whose last objective is that of a collapsed model."""
        marks = self.last_points(self.study().objective.mark)["value"]
        return frozenset(marks.index[marks == 1])

    def rungs(self, retired: bool = False) -> "pd.DataFrame":
        """Return one row per verdict: cell, trial, seed, t, value, verdict."""
        return self._of_cells("rung", "t, value, verdict", "t", retired).astype({"value": float})

    @once
    def evaluations(self, retired: bool = False) -> "pd.DataFrame":
        """Return one row per score on the study's present data and settings."""
        frame = self._read(
            "SELECT evaluation.* FROM evaluation LEFT JOIN cell ON subject = identity"
            " WHERE ?1 OR NOT coalesce(retired, 0) ORDER BY task, split, aggregation, preset, subject",
            retired,
        )
        names = zip(frame["task"], frame["split"], frame["preset"], strict=True)
        frame["evaluation"] = [evaluation_name(*parts) for parts in names]
        whole = zip(frame["evaluation"], frame["aggregation"], strict=True)
        frame["metric"] = ["/".join(parts) for parts in whole]
        study = self.ledger.study()
        now = study.fingerprints if study else {}
        given = zip(frame["evaluation"], frame["fingerprint"], strict=True)
        counts = [found == now.get(name, found) != WITHDRAWN for name, found in given]
        return (
            frame[pd.Series(counts, dtype=bool)]
            .reset_index(drop=True)
            .astype({"value": float, "degenerate": bool})
        )

    def importance(self) -> "pd.DataFrame":
        """Return one row per axis and evaluator, most important first."""
        frame = self._read("SELECT * FROM importance ORDER BY evaluator, value DESC, axis")
        return frame.astype({"value": float, "low": float, "high": float})

    def provenance(self) -> list[dict[str, Any]]:
        return self.ledger.provenance()

    def events(self) -> "pd.DataFrame":
        """Return all events, oldest first: at, kind, cell, text."""
        return self._read("SELECT at, kind, cell, text FROM event ORDER BY id")

    def statuses_for_next_run(self) -> dict[str, Status]:
        rows = self._db.execute("SELECT identity, status FROM cell")
        return {identity: status_for_next_run(self.study_dir, identity, status) for identity, status in rows}

    @once
    def trials_table(self) -> "pd.DataFrame":
        """Return one row per cell for display, by trial and seed.

        `objective` is NaN unless complete or stopped early; `t` is its last step, whichever checkpoint it is of.
        """
        study, cells = self.study(), self.cells()
        table = cells[["trial", "seed", "stage", "label", "status"]].copy()
        for axis, heading in zip(study.axes, study.headings, strict=True):
            table[heading] = [proposal.get(axis.name) for proposal in cells["proposal"]]
        last = self.last_points(study.objective.metric)
        values = cells["identity"].map(last["value"]).astype(float)
        table["objective"] = values.where(cells["status"].isin(HAS_RESULT))
        table["t"] = cells["identity"].map(last["t"]).astype("Int64")
        return table.join(cells[["duration_s", "reason", "identity"]])

    def _of_cells(self, table: str, columns: str, order: str, retired: bool, *more: str) -> "pd.DataFrame":
        """Return rows of a table beside their cell, by trial, seed and cell."""
        rows = f"SELECT cell, trial, seed, {columns} FROM {table} AS own JOIN cell ON cell = identity"
        return self._read(
            f"{rows} WHERE ?1 OR NOT retired ORDER BY trial, seed, cell, {order}", retired, *more
        )

    def _read(self, query: str, *values: Any) -> "pd.DataFrame":
        return pd.read_sql_query(query, self._db, params=values)
