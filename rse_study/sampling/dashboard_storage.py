"""A ledger as a read-only storage of Optuna, for optuna-dashboard."""

import copy
import math
import threading
import time
import warnings
from collections.abc import Container, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import optuna
import pandas as pd
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.storages import BaseStorage, InMemoryStorage
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from rse_study.errors import InputError
from rse_study.results.reader import Reader
from rse_study.results.records import StudyRecord
from rse_study.sampling.optuna_types import STATES, distribution_of
from rse_study.search.standings import standings_of

CellRow = dict[str, Any]  # of the reader's frame of cells

REFRESH_SECONDS = 1.0  # a page asks several times; the ledger is read once for all of them
SHOWN = ("identity", "seed", "stage", "label", "reason")  # of a cell, as attributes of its trial


class LedgerStorage(InMemoryStorage):
    """The study of a ledger, as it is at the moment it is shown.

    Trials are read from the ledger and kept nowhere else: what is changed in the dashboard is a note in
    memory, never the study. A search shows its trials, numbered as ours; a grid shows a trial for each cell. A trial of
    several raced seeds has the course of its first one, and the mean of those that are complete.
    One that was pruned has its last value, as Optuna has it: the dashboard draws the way of no other.
    """

    def __init__(self, study_dir: Path, refresh_seconds: float = REFRESH_SECONDS) -> None:
        super().__init__()
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._study_dir, self._refresh_seconds = study_dir, refresh_seconds
        self._reading = threading.Lock()  # the server answers in several threads
        self._trials: list[FrozenTrial] = []
        with Reader(study_dir) as reader:
            study = reader.study()
        direction = StudyDirection[study.objective.direction.upper()]
        self._id = self.create_new_study([direction], study.name)
        self.set_study_user_attr(self._id, "question", study.question)
        self._refresh()
        objective = study.objective.label or study.objective.metric
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            optuna.load_study(study_name=study.name, storage=self).set_metric_names([objective])

    def get_all_trials(
        self, study_id: int, deepcopy: bool = True, states: Container[TrialState] | None = None
    ) -> list[FrozenTrial]:
        with self._reading:
            if time.monotonic() - self._refreshed >= self._refresh_seconds:
                self._refresh()
            trials = self._trials if study_id == self._id else []
        chosen = [trial for trial in trials if states is None or trial.state in states]
        return copy.deepcopy(chosen) if deepcopy else chosen

    def get_trial(self, trial_id: int) -> FrozenTrial:
        for trial in self._trials:
            if trial._trial_id == trial_id:
                return trial
        raise KeyError(f"no trial {trial_id}")

    # The ancestor's own versions read a store of trials that is empty here; these go through `get_all_trials`.
    get_best_trial = BaseStorage.get_best_trial
    get_trial_number_from_id = BaseStorage.get_trial_number_from_id
    get_trial_id_from_study_id_trial_number = BaseStorage.get_trial_id_from_study_id_trial_number

    def _refresh(self) -> None:
        try:
            with Reader(self._study_dir) as reader:
                self._trials = trials_of(reader)
        except InputError:
            pass  # the ledger is being rebuilt: the last state stands
        self._refreshed = time.monotonic()


def trials_of(reader: Reader) -> list[FrozenTrial]:
    """The ledger's cells as Optuna's trials.

    The number of each is its index in the list.
    """
    study, cells = reader.study(), reader.cells()
    cells["status"] = cells["identity"].map(reader.statuses_for_next_run())
    values = reader.metrics(name=study.objective.metric)
    histories: dict[str, dict[int, float]] = {
        str(identity): dict(zip(rows["t"].tolist(), rows["value"].tolist(), strict=True))
        for identity, rows in values.groupby("cell")
    }
    rows, distributions = _search(study, cells) if study.kind == "search" else _grid(cells)
    means = (
        {one.key: one.values[0] for one in standings_of(reader.ledger, "search")} if study.raced_seeds else {}
    )
    return [
        _trial(number, row, histories.get(row["identity"], {}), distributions, means.get(row["identity"]))
        if row
        else _unknown(number)
        for number, row in enumerate(rows)
    ]


def _search(study: StudyRecord, cells: pd.DataFrame) -> tuple[list[CellRow], dict[str, BaseDistribution]]:
    """The search's own cells by number.

    A rebuilt ledger may lack one: an empty row.
    """
    searched = cells[(cells["stage"] == "search") & ~cells["seed"].isin(study.raced_seeds[1:])]
    by_number = {row["trial"]: row for row in _records(searched)}
    rows = [by_number.get(number, {}) for number in range(max(by_number, default=-1) + 1)]
    return rows, {axis.name: distribution_of(axis) for axis in study.axes}


def _grid(cells: pd.DataFrame) -> tuple[list[CellRow], dict[str, BaseDistribution]]:
    """Every cell; what tells them apart (axes, the row's name, the seed), each with the values that occur."""
    rows = _records(cells)
    for row in rows:
        name = {"row": row["label"]} if row["label"] else {}
        row["proposal"] = {**row["proposal"], **name, "seed": row["seed"]}
    choices: dict[str, dict[Any, None]] = {}
    for row in rows:
        for name, value in row["proposal"].items():
            choices.setdefault(name, {})[value] = None
    return rows, {name: CategoricalDistribution(list(values)) for name, values in choices.items()}


def _records(cells: pd.DataFrame) -> list[CellRow]:
    rows: list[CellRow] = cells.to_dict("records")
    return rows


def _trial(
    number: int,
    row: CellRow,
    history: dict[int, float],
    distributions: Mapping[str, BaseDistribution],
    mean: float | None = None,
) -> FrozenTrial:
    """The trial of a cell; `mean`: over its seeds, where it has several."""
    state = STATES[row["status"]]
    value = (history[max(history)] if history else math.nan) if mean is None else mean
    if state == TrialState.COMPLETE and math.isnan(value):
        state = TrialState.FAIL  # Optuna knows no trial that ended well without a value
    has_value = state in (TrialState.COMPLETE, TrialState.PRUNED) and not math.isnan(value)
    params = {name: row["proposal"][name] for name in distributions if name in row["proposal"]}
    started, ended = _times(row, state)
    return FrozenTrial(
        number=number,
        trial_id=number,
        state=state,
        value=value if has_value else None,
        datetime_start=started,
        datetime_complete=ended,
        params=params,
        distributions={name: distributions[name] for name in params},
        user_attrs={name: row[name] for name in SHOWN if row[name] != ""},
        system_attrs={},
        intermediate_values=history,
    )


def _unknown(number: int) -> FrozenTrial:
    return FrozenTrial(number, TrialState.WAITING, None, None, None, {}, {}, {}, {}, {}, number)


def _times(row: CellRow, state: TrialState) -> tuple[datetime | None, datetime | None]:
    """Start and end in local time without a zone, as Optuna keeps them."""
    if state == TrialState.WAITING:
        return None, None
    started, ended = (
        datetime.fromisoformat(row[name]).astimezone().replace(tzinfo=None) if row[name] else None
        for name in ("started", "ended")
    )
    if state == TrialState.RUNNING:
        return started or datetime.now(), None
    ended = ended or started or datetime.now()
    return started or ended - timedelta(seconds=row["duration_s"]), ended
