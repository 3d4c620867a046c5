"""The cells of a search's ablation path, as far as the ledger decides them."""

from rse_study.on_ray.queue.cell import Cell, Identify
from rse_study.results.cell_state import cells_for_next_run
from rse_study.results.ledger import Ledger
from rse_study.results.records import CellRecord
from rse_study.search.ablation_path import PathState
from rse_study.search.state import search_state
from rse_study.spec import canonical_json
from rse_study.study.checking.validation import CheckedStudy

FIRST_NUMBER = -2  # of a point that is no trial: trials count up from 0, and -1 is a base outside the space


def path_cells(checked: CheckedStudy, ledger: Ledger, identify: Identify) -> list[Cell]:
    """Return all cells of the path known now, including confirmed ones.

    Points that are no trial have a number below 0, so that none collides with a trial of a search that grows.
    """
    records = ledger.cells()
    state = _state(checked, ledger, identify)
    path = checked.study.ablation_path
    if state is None or path is None:
        return []
    planned = [record for record in records if record.stage != "search"]
    numbers = {canonical_json(record.proposal): record.trial for record in planned}
    ends = {0: state.base.trial, len(state.axes): state.best.trial}
    free = min([FIRST_NUMBER + 1, *(record.trial for record in records)]) - 1
    cells = []
    for point in state.points:
        proposal, end = state.proposal_of(point), ends.get(len(point))
        trial = checked.space.apply(proposal)
        key = canonical_json(proposal)
        if end is None and key not in numbers:
            numbers[key], free = free, free - 1
        for seed in path.seeds:
            cells.append(
                Cell(
                    number=numbers[key] if end is None else end,
                    seed=seed,
                    identity=identify(trial, seed),
                    trial=trial,
                    proposal=proposal,
                    stage="path",
                    label=state.label_of(point),
                    resources=path.resources or checked.study.resources,
                )
            )
    return cells


def _state(checked: CheckedStudy, ledger: Ledger, identify: Identify) -> PathState | None:
    """Return the path's state, from cells whose identity today's code confirms."""

    def is_todays(record: CellRecord) -> bool:
        return identify(checked.space.apply(record.proposal), record.seed) == record.identity

    known = cells_for_next_run(ledger, ledger.study_dir)
    cells = [record for record in known if record.stage == "search" or is_todays(record)]
    return search_state(ledger, cells, is_held=True).path
