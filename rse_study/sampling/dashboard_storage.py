"""A ledger copied into Optuna's own storage, for optuna-dashboard."""

import math
import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import optuna
import pandas as pd
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.storages import InMemoryStorage
from optuna.trial import FrozenTrial, TrialState, create_trial

from rse_study.errors import InputError
from rse_study.results.reader import Reader
from rse_study.results.study_record import StudyRecord
from rse_study.sampling.optuna_types import STATES, distribution_of
from rse_study.search.choice import standings_of

CellRow = dict[str, Any]  # of the reader's frame of cells
Distributions = Mapping[str, BaseDistribution]

REFRESH_SECONDS = 1.0  # a page asks several times; the ledger is read once for all of them
CONSTRAINTS = "constraints"  # where the dashboard, and Optuna's choice of the best, look for them
SHOWN = ("identity", "seed", "stage", "label", "reason")  # of a cell, as attributes of its trial


class LedgerCopy:
    """The trials of a ledger in Optuna's storage, copied anew while the study runs.

    Each copy is a new storage, because Optuna never changes a trial that has ended, and ours do: stopped ones go on
    after the search, and lost ones run again. Notes written in the dashboard are kept.
    """

    def __init__(self, study_dir: Path, refresh_seconds: float = REFRESH_SECONDS) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._study_dir, self._refresh_seconds = study_dir, refresh_seconds
        self._reading = threading.Lock()  # the server answers in several threads
        self._storage, self._copied = self._copy({}), time.monotonic()

    def storage(self) -> InMemoryStorage:
        """Return the newest copy; while the ledger is being rebuilt, the last one."""
        with self._reading:
            if time.monotonic() - self._copied >= self._refresh_seconds:
                notes = next((one.system_attrs for one in self._storage.get_all_studies()), {})
                with suppress(InputError):
                    self._storage = self._copy(notes)
                self._copied = time.monotonic()
            return self._storage

    def _copy(self, notes: Mapping[str, Any]) -> InMemoryStorage:
        storage = InMemoryStorage()
        with Reader(self._study_dir) as reader, warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            study, objectives = reader.study(), reader.study().all_objectives
            copy = optuna.create_study(
                storage=storage, study_name=study.name, directions=[one.direction for one in objectives]
            )
            copy.set_user_attr("question", study.question)
            copy.set_metric_names([one.label or one.metric for one in objectives])
            copy.add_trials(trials_of(reader))
        for key, note in notes.items():
            storage.set_study_system_attr(0, key, note)
        return storage


def trials_of(reader: Reader) -> list[FrozenTrial]:
    """Return a search's trials by number, or a trial for each cell of a grid.

    The history is of the first objective and the first seed, for Optuna has one history a trial; the values of several
    seeds are means.
    """
    study, cells = reader.study(), reader.cells()
    cells["status"] = cells["identity"].map(reader.statuses_for_next_run())
    histories = {
        str(identity): dict(zip(rows["t"].tolist(), rows["value"].tolist(), strict=True))
        for identity, rows in reader.metrics(name=study.objective.curve).groupby("cell")
    }
    finals = [reader.final_values(one.metric) for one in study.all_objectives]
    means = {one.key: one.values for one in standings_of(reader.ledger)} if study.search_seeds else {}
    rows, distributions = _search(study, cells) if study.kind == "search" else _grid(cells)
    bounds = [(one, reader.final_values(one.metric)) for one in study.constraints]
    trials = []
    for row in rows:
        identity = row.get("identity", "")
        values = means.get(identity) or [final.get(identity, math.nan) for final in finals]
        violations = [one.violation(ends.get(identity, math.nan)) for one, ends in bounds]
        trials.append(_trial(row, values, violations, histories.get(identity, {}), distributions))
    return trials


def _search(study: StudyRecord, cells: pd.DataFrame) -> tuple[list[CellRow], Distributions]:
    """The search's cells by number; one that a rebuilt ledger lacks is an empty row."""
    searched = cells[(cells["stage"] == "search") & ~cells["seed"].isin(study.further_seeds)]
    by_number = {row["trial"]: row for row in searched.to_dict("records")}
    rows = [by_number.get(number, {}) for number in range(max(by_number, default=-1) + 1)]
    return rows, {axis.name: distribution_of(axis) for axis in study.axes}


def _grid(cells: pd.DataFrame) -> tuple[list[CellRow], Distributions]:
    """Every cell, told apart by axes, row and seed, each with the values that occur."""
    rows: list[CellRow] = cells.to_dict("records")
    choices: dict[str, dict[Any, None]] = {}
    for row in rows:
        name = {"row": row["label"]} if row["label"] else {}
        row["proposal"] = {**row["proposal"], **name, "seed": row["seed"]}
        for axis, value in row["proposal"].items():
            choices.setdefault(axis, {})[value] = None
    return rows, {axis: CategoricalDistribution(list(values)) for axis, values in choices.items()}


def _trial(
    row: CellRow,
    values: Sequence[float],
    violations: Sequence[float],
    history: dict[int, float],
    distributions: Distributions,
) -> FrozenTrial:
    """Return a cell's trial; the dashboard draws a stopped one only with its value."""
    if not row:
        return create_trial(state=TrialState.WAITING)
    state, has_values = STATES[row["status"]], not any(map(math.isnan, values))
    if state == TrialState.COMPLETE and not has_values:
        state = TrialState.FAIL  # Optuna knows no complete trial without a value
    params = {name: row["proposal"][name] for name in distributions if name in row["proposal"]}
    trial = create_trial(
        state=state,
        values=list(values) if has_values and state in (TrialState.COMPLETE, TrialState.PRUNED) else None,
        params=params,
        distributions={name: distributions[name] for name in params},
        user_attrs={name: row[name] for name in SHOWN if row[name] != ""},
        intermediate_values=history,
        system_attrs={CONSTRAINTS: list(violations)} if violations and has_values else {},
    )
    # Optuna keeps local time without a zone.
    now = datetime.now()
    started, ended = (
        datetime.fromisoformat(row[name]).astimezone().replace(tzinfo=None) if row[name] else None
        for name in ("started", "ended")
    )
    if state.is_finished():
        trial.datetime_complete = ended or started or now
        started = started or trial.datetime_complete - timedelta(seconds=row["duration_s"])
    if state != TrialState.WAITING:
        trial.datetime_start = started or now
    return trial
