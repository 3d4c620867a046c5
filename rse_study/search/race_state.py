"""How far the race of a search's seeds is, by its ledger."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rse_study.results.queries import LedgerQueries
from rse_study.results.records import FINISHED, CellRecord, RungRow, StudyRecord
from rse_study.search.seed_race import RaceVerdict, RacingTrial, race
from rse_study.search.stopping import rule_of

OVER: RaceVerdict = "over"


@dataclass(frozen=True)
class RaceState:
    """Each trial's seeds so far, and what comes next for it."""

    num_seeds: int
    num_trials: int
    """of the search, those that nobody has proposed yet among them"""
    num_cells: Mapping[int, int]
    """that were planned of each trial, by its number"""
    trials: tuple[RacingTrial, ...]
    """by number"""
    verdicts: Mapping[int, RaceVerdict]
    """by number"""

    @property
    def most_cells(self) -> int:
        """How many cells the search has at most.

        All seeds of each trial whose race goes on, or that is to come.
        """
        num_open = max(0, self.num_trials - len(self.trials))
        num_open += sum(not self.has_ended(trial) for trial in self.trials)
        return num_open * self.num_seeds + sum(
            self.num_cells[trial.number] for trial in self.trials if self.has_ended(trial)
        )

    @property
    def num_saved(self) -> int:
        """How many cells less that is than all seeds of all trials."""
        return max(self.num_trials, len(self.trials)) * self.num_seeds - self.most_cells

    @property
    def is_over(self) -> bool:
        """Whether all trials are known, and none runs another seed."""
        are_all = len(self.trials) >= self.num_trials
        return are_all and all(verdict == "over" for verdict in self.verdicts.values())

    def has_ended(self, trial: RacingTrial) -> bool:
        """Whether a trial runs no seed beyond those that were planned."""
        return trial.is_out or self.verdicts[trial.number] == "over"

    def num_with(self, num_seeds: int) -> int:
        """How many trials have at least so many cells."""
        return sum(number >= num_seeds for number in self.num_cells.values())


def race_of(ledger: LedgerQueries, study: StudyRecord, cells: Iterable[CellRecord]) -> RaceState | None:
    """Return how far the race of a search is; None of a study that runs none.

    Parameters
    ----------
    ledger
        Has values and rungs.
    study
        As it was frozen.
    cells
        Each with the status that the next run finds.
    """
    if not study.raced_seeds:
        return None
    deciding = {one.metric for one in study.all_objectives} | {one.metric for one in study.constraints}
    finals = {metric: ledger.final_values(metric) for metric in deciding}
    return race_state(study, cells, finals, ledger.rungs())


def race_state(
    study: StudyRecord,
    cells: Iterable[CellRecord],
    finals: Mapping[str, Mapping[str, float]],
    rungs: Iterable[RungRow] = (),
) -> RaceState:
    """Return how far the race of a search is.

    Parameters
    ----------
    study
        As it was frozen; it races seeds.
    cells
        Each with the status that the next run finds.
    finals
        What objective and constraints are measured by, where each cell ended: by metric, by cell.
    rungs
        The verdicts of early stopping.
    """
    place = {seed: index for index, seed in enumerate(study.raced_seeds)}
    by_trial: dict[int, list[CellRecord]] = defaultdict(list)
    for cell in cells:
        nobody_runs_it = study.is_ended_by_budget and cell.is_left_behind
        if cell.stage == "search" and not cell.retired and not nobody_runs_it:
            by_trial[cell.trial].append(cell)
    stopped = _stopped(study, rungs, {cell.identity: n for n, of in by_trial.items() for cell in of})
    trials = []
    for number, of_trial in sorted(by_trial.items()):
        ended = [cell for cell in of_trial if cell.status in FINISHED]
        complete = [cell for cell in ended if cell.status == "complete" and _is_measured(cell, finals)]
        complete.sort(key=lambda cell: place.get(cell.seed, len(place)))
        trials.append(
            RacingTrial(
                number,
                tuple(finals[study.objective.metric][cell.identity] for cell in complete),
                is_running=len(ended) < len(of_trial),
                is_out=len(complete) < len(ended) or any(cell.identity in stopped for cell in of_trial),
            )
        )
    is_less_better = study.objective.direction == "minimize"
    return RaceState(
        num_seeds=len(place),
        num_trials=study.num_trials,
        num_cells={number: len(of_trial) for number, of_trial in by_trial.items()},
        trials=tuple(trials),
        verdicts=dict.fromkeys(by_trial, OVER)
        if study.is_ended_by_budget
        else race(trials, len(place), less_is_better=is_less_better),
    )


def _is_measured(cell: CellRecord, finals: Mapping[str, Mapping[str, float]]) -> bool:
    return all(math.isfinite(values.get(cell.identity, math.nan)) for values in finals.values())


def _stopped(study: StudyRecord, rungs: Iterable[RungRow], trials: Mapping[str, int]) -> set[str]:
    """Cells that a verdict stopped, those that went on to their full budget after the search among them."""
    rule, seed = rule_of(study), study.search_seed
    stops = [row for row in rungs if row.verdict == "stop" and row.cell in trials]
    return {
        row.cell
        for row in stops
        if rule is None or rule.effective(seed, trials[row.cell], row.value, row.verdict) == "stop"
    }
