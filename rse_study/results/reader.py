"""A ledger as tidy pandas frames. Reads while somebody else writes; imports no torch, ray or optuna."""

import json
import sqlite3
from pathlib import Path
from types import TracebackType
from typing import Any

import pandas as pd

from rse_study.errors import InputError
from rse_study.results.records import StudyRecord
from rse_study.results.schema import check_version, ledger_path


class Reader:
    """Read-only view of a study's ledger."""

    def __init__(self, study_dir: Path) -> None:
        self._path = path = ledger_path(study_dir)
        if not path.is_file():
            remedy = "Check the study's name, or run it first"
            raise InputError("no ledger", where=str(study_dir), remedy=remedy)
        self._db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        if check_version(self._db, path) == 0:
            raise InputError("the ledger is empty", where=str(study_dir), remedy="Run the study first")

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()

    def study(self) -> StudyRecord:
        """The study as it was frozen."""
        row = self._db.execute("SELECT content FROM study").fetchone()
        if row is None:
            raise InputError(
                "the ledger holds no study yet", where=str(self._path), remedy="Run the study first"
            )
        return StudyRecord.model_validate_json(row[0])

    def cells(self) -> pd.DataFrame:
        """One row per cell: identity, trial, seed, config and proposal (dicts), status, reason, times."""
        frame = self._read("SELECT * FROM cell ORDER BY trial, seed")
        for column in ("config", "proposal"):
            frame[column] = [json.loads(text) for text in frame[column]]
        return frame

    def metrics(self) -> pd.DataFrame:
        """One row per number: cell, trial, seed, t, name, value (NaN where it was NaN)."""
        frame = self._read(
            "SELECT cell, trial, seed, t, name, value FROM metric JOIN cell ON cell = identity"
            " ORDER BY trial, seed, t, name"
        )
        frame["value"] = frame["value"].astype(float)
        return frame

    def evaluations(self) -> pd.DataFrame:
        """One row per score, with `metric` = task/split/aggregation; subjects are cells or baselines."""
        frame = self._read("SELECT * FROM evaluation ORDER BY task, split, aggregation, subject")
        frame["degenerate"] = frame["degenerate"].astype(bool)
        frame["metric"] = [
            "/".join(parts) for parts in zip(frame["task"], frame["split"], frame["aggregation"], strict=True)
        ]
        return frame

    def provenance(self) -> list[dict[str, Any]]:
        """What every run said about itself, oldest first, with its time under `at`."""
        rows = self._db.execute("SELECT at, content FROM provenance ORDER BY run")
        return [{"at": at, **json.loads(content)} for at, content in rows]

    def events(self) -> pd.DataFrame:
        """Everything noted, oldest first."""
        return self._read("SELECT at, kind, cell, text FROM event ORDER BY id")

    def trials_table(self) -> pd.DataFrame:
        """One row per cell: trial, seed, status, a column per axis (`headings`), objective, t, time, reason.

        `objective` is the value at the cell's last step, never the best one seen on the way.
        """
        study, cells = self.study(), self.cells()
        table = cells[["trial", "seed", "status"]].copy()
        for axis, heading in zip(study.axes, study.headings, strict=True):
            table[heading] = [proposal.get(axis.name) for proposal in cells["proposal"]]
        last = self._last_values(study.objective.metric)
        table["objective"] = cells["identity"].map(last["value"]).astype(float)
        table["t"] = cells["identity"].map(last["t"]).astype("Int64")
        return table.join(cells[["duration_s", "reason", "identity"]])

    def _last_values(self, metric: str) -> pd.DataFrame:
        # SQLite: with a bare max(), the other columns come from the row that holds it.
        query = "SELECT cell, max(t) AS t, value FROM metric WHERE name = ? GROUP BY cell"
        return pd.read_sql_query(query, self._db, params=(metric,)).set_index("cell")

    def _read(self, query: str) -> pd.DataFrame:
        return pd.read_sql_query(query, self._db)
