"""Where the cells of a stage stand by all that a search chooses by."""

import math

from rse_study.results.cell_state import HAS_RESULT
from rse_study.results.queries import LedgerQueries
from rse_study.results.records import Stage
from rse_study.results.selection import TrialResult


def standings_of(ledger: LedgerQueries, stage: Stage) -> list[TrialResult[str]]:
    """Return where each cell of a stage ended, by trial and seed.

    The key is the cell's identity. A cell without a result has no values; one whose constraint could not be measured
    breaks it.

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
        TrialResult(
            key=cell.identity,
            t=steps.get(cell.identity, (0, math.nan))[0],
            values=tuple(
                finals[one.metric].get(cell.identity, math.nan) if cell.status in HAS_RESULT else math.nan
                for one in study.all_objectives
            ),
            is_feasible=all(
                one.violation(finals[one.metric].get(cell.identity, math.nan)) <= 0
                for one in study.constraints
            ),
        )
        for cell in cells
    ]
