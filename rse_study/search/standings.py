"""Where the trials of a stage stand by all that a search chooses by."""

import math
from collections.abc import Iterable, Mapping

from rse_study.results.cell_state import HAS_RESULT
from rse_study.results.queries import LedgerQueries
from rse_study.results.records import CellRecord, Stage, StudyRecord
from rse_study.search.ranking import over_seeds
from rse_study.search.seed_race import mean_of
from rse_study.search.selection import TrialResult


def standings_of(ledger: LedgerQueries, stage: Stage) -> list[TrialResult[str]]:
    """Return where each cell of a stage ended, by trial and seed.

    The key is the cell's identity. A cell without a result has no values; one whose constraint could not be measured
    breaks it. Of a search that races seeds each trial stands once, under its first seed's cell: with the means of its
    seeds, and the steps of all of them.

    Parameters
    ----------
    ledger
        Of a study that was frozen.
    stage
        Whose cells.
    """
    study = ledger.study()
    assert study is not None, "nothing was frozen yet"
    steps = ledger.last_points(study.objective.metric)
    deciding = {one.metric for one in study.all_objectives} | {one.metric for one in study.constraints}
    finals = {metric: ledger.final_values(metric) for metric in deciding}
    cells = [cell for cell in ledger.cells() if cell.stage == stage and not cell.retired]
    return [
        _trial_result(
            study,
            of_trial,
            {one.identity: steps.get(one.identity, (0, math.nan))[0] for one in of_trial},
            finals,
        )
        for of_trial in by_trial(study, cells)
    ]


def _trial_result(
    study: StudyRecord,
    cells: list[CellRecord],
    steps: Mapping[str, int],
    finals: Mapping[str, Mapping[str, float]],
) -> TrialResult[str]:
    """Of the cells of a trial, the first seed's first; those that have a value count."""
    first, metric = cells[0], study.objective.metric

    def value(cell: CellRecord, metric: str) -> float:
        return finals[metric].get(cell.identity, math.nan)

    with_result = [cell for cell in cells if first.status in HAS_RESULT and cell.status in HAS_RESULT]
    counted = [cell for cell in with_result if math.isfinite(value(cell, metric))] or with_result
    return TrialResult(
        key=first.identity,
        t=over_seeds([(steps[cell.identity], value(cell, metric)) for cell in counted or [first]])[0],
        values=tuple(mean_of(value(cell, one.metric) for cell in counted) for one in study.all_objectives),
        is_feasible=all(
            one.violation(mean_of(value(cell, one.metric) for cell in counted or [first])) <= 0
            for one in study.constraints
        ),
    )


def by_trial(study: StudyRecord, cells: Iterable[CellRecord]) -> list[list[CellRecord]]:
    """Return the cells of each trial of a search, its first seed's first.

    Where no seeds race, each cell alone: a trial that runs once is its cell.

    Parameters
    ----------
    study
        As it was frozen.
    cells
        By trial and seed.
    """
    if not study.raced_seeds:
        return [[cell] for cell in cells]
    place = {seed: index for index, seed in enumerate(study.raced_seeds)}
    trials: dict[tuple[str, int], list[CellRecord]] = {}
    for cell in sorted(cells, key=lambda cell: place.get(cell.seed, len(place))):
        # What confirms a search has seeds of its own, and each counts for itself.
        alone = "" if cell.stage == "search" else cell.identity
        trials.setdefault((alone, cell.trial), []).append(cell)
    return sorted(trials.values(), key=lambda of_trial: of_trial[0].trial)
