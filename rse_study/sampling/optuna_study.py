"""A study as Optuna's own, for its figures and optuna-dashboard."""

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
from optuna import Study as Study  # with the figures, for reports, which know optuna from here alone
from optuna import visualization as visualization
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.storages import BaseStorage, InMemoryStorage
from optuna.trial import FrozenTrial, TrialState, create_trial

from rse_study.errors import InputError
from rse_study.results.reader import Reader
from rse_study.results.study_record import StudyRecord
from rse_study.sampling.optuna_types import STATES, distribution_of
from rse_study.search.choice import standings_of

CellRow = dict[str, Any]  # of a frame of cells
Distributions = Mapping[str, BaseDistribution]
NumbersByCell = Mapping[str, Sequence[float]]

REFRESH_SECONDS = 1.0  # a page asks several times; the ledger is read once for all of them
CONSTRAINTS = "constraints"  # where the dashboard, and Optuna's choice of the best, look for them
SHOWN = ("identity", "seed", "stage", "label", "reason")  # of a cell, as attributes of its trial


def optuna_study(
    study: StudyRecord,
    cells: pd.DataFrame,
    values: NumbersByCell,
    curves: pd.DataFrame,
    violations: NumbersByCell | None = None,
    storage: BaseStorage | None = None,
) -> Study:
    """Return a search's trials by number, or a trial for each cell of a grid.

    `cells` are `Reader.cells` with the status of the next run, `curves` the first objective's points (cell, t, value).
    The history is of the first objective and the first seed, for Optuna has one history a trial.
    """
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    rows, distributions = _search(study, cells) if study.kind == "search" else _grid(cells)
    histories = {
        str(identity): dict(zip(points["t"].tolist(), points["value"].tolist(), strict=True))
        for identity, points in curves.groupby("cell")
    }
    objectives, none = study.all_objectives, [math.nan] * len(study.all_objectives)
    trials = []
    for row in rows:
        identity = row.get("identity", "")
        own = values.get(identity, none), (violations or {}).get(identity, ())
        trials.append(_trial(row, *own, histories.get(identity, {}), distributions))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        made = optuna.create_study(
            storage=storage, study_name=study.name, directions=[one.direction for one in objectives]
        )
        made.set_user_attr("question", study.question)
        made.set_metric_names([one.label or one.metric for one in objectives])
        made.add_trials(trials)
    return made


class LedgerCopy:
    """The trials of a ledger in Optuna's storage, copied anew while the study runs.

    Each copy is a new storage, because Optuna never changes a trial that has ended, and ours do: stopped ones go on
    after the search, and lost ones run again. Notes written in the dashboard are kept.
    """

    def __init__(self, study_dir: Path, refresh_seconds: float = REFRESH_SECONDS) -> None:
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
        read_optuna(self._study_dir, storage)
        for key, note in notes.items():
            storage.set_study_system_attr(0, key, note)
        return storage


def read_optuna(study_dir: Path, storage: BaseStorage | None = None) -> Study:
    """Return the trials of a study that has run, as its ledger has them now."""
    with Reader(study_dir) as reader:
        study, cells = reader.study(), reader.cells()
        metrics = [one.metric for one in study.all_objectives] + [one.metric for one in study.constraints]
        finals = {metric: reader.final_values(metric) for metric in metrics}
        if study.kind == "search":
            values = {one.key: one.values for one in standings_of(reader.ledger)}
        else:
            values = {
                identity: tuple(finals[one.metric].get(identity, math.nan) for one in study.all_objectives)
                for identity in cells["identity"]
            }
        violations = {
            identity: [one.violation(finals[one.metric].get(identity, math.nan)) for one in study.constraints]
            for identity in values
        }
        cells["status"] = cells["identity"].map(reader.statuses_for_next_run())
        curves = reader.metrics(name=study.objective.curve)
        return optuna_study(study, cells, values, curves, violations, storage)


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
