"""Every value of an axis gets the same number of trials, and the best trial of each is confirmed."""

from collections import Counter

import pytest

from rse_study.on_ray.queue.stages import confirm_cells
from rse_study.results.study_record import AxisRecord, ObjectiveRecord, StudyRecord
from tests.on_ray.queue.world import World, identify

METHODS = {
    "robust": {},
    "simcse": {"preset": "simcse"},
    "l2p": {"method": {"name": "l2p_csr"}},
}
SEARCH = {
    "method": {"variants": METHODS},
    "optimizer.lr": {"log": [1e-6, 1e-3]},
    "rho": {"float": [0, 1], "when": {"method": "robust"}},
}


class TunedWorld(World):
    """A search whose frozen record knows its axes, as confirmation asks for them."""

    def __init__(self, folder, content):
        super().__init__(folder, content)
        axes = (AxisRecord(name="method", paths=("method",), kind="choice", choices=tuple(METHODS)),)
        resolved = {"tune_each": "method", "confirm": content["confirm"], "search": content["search"]}
        record = StudyRecord(name="x", objective=ObjectiveRecord(metric="dev"), axes=axes, resolved=resolved)
        self.record = record


@pytest.fixture
def content(study_content):
    tuned = {"num_trials": 12, "tune_each": "method", "early_stopping": None}
    confirm = {"num_best": 1, "baseline": "none", "seeds": [7, 8]}
    return study_content | tuned | {"search": SEARCH, "confirm": confirm}


def worth(cell):
    """SimCSE is best, and within each method the larger rate."""
    return {"robust": 50, "simcse": 60, "l2p": 40}[cell.proposal["method"]] + 1e4 * cell.trial.optimizer.lr


@pytest.mark.parametrize("sampler", ["tpe", "random"])
def test_values_take_turns_from_the_bases_own_and_a_killed_search_asks_the_same(opened, content, sampler):
    content = content | {"sampler": {"name": sampler, "num_startup": 2}}
    whole = opened(TunedWorld, content)
    cells = whole.run(whole.queue(), worth)
    methods = [cell.proposal["method"] for cell in cells]
    assert methods == ["robust", "simcse", "l2p"] * 4
    assert cells[0].proposal == whole.checked.space.base_point
    assert all(("rho" in cell.proposal) == (cell.proposal["method"] == "robust") for cell in cells)

    killed, again = opened(TunedWorld, content, "killed"), []
    while (cell := (queue := killed.queue()).next_cell()) is not None:  # a new driver for every trial
        killed.end(queue, cell, worth(cell))
        again.append(cell.proposal)
    assert again == [cell.proposal for cell in cells]


@pytest.mark.parametrize(
    ("rates", "expected"),
    [([1e-6, 1e-3], ["robust", "simcse", "l2p"]), ([0.01, 0.1], ["l2p", "robust", "simcse"])],
    ids=["from the base's own on", "from the first on, where the base is no point of the space"],
)
def test_turns_go_through_the_values_in_their_order(opened, content, rates, expected):
    variants = {name: METHODS[name] for name in ("l2p", "robust", "simcse")}
    search = SEARCH | {"method": {"variants": variants}, "optimizer.lr": {"log": rates}}
    world = opened(TunedWorld, content | {"search": search})
    assert (world.checked.space.base_point is None) == (expected[0] == "l2p")
    cells = world.run(world.queue(), worth)
    assert [cell.proposal["method"] for cell in cells] == expected * 4


def test_the_best_of_each_is_confirmed_the_base_too_where_it_is_the_best(opened, content):
    world = opened(TunedWorld, content)
    cells = world.run(world.queue(), worth)
    best = {}
    for cell in cells:
        method = cell.proposal["method"]
        best[method] = max(best.get(method, cell), cell, key=worth)
    confirmed = confirm_cells(world.checked, world.ledger, identify)
    assert Counter((cell.number, cell.seed) for cell in confirmed) == {
        (cell.number, seed): 1 for cell in best.values() for seed in (7, 8)
    }
    assert world.checked.num_cells == 12 + 6
    assert world.record.confirm_settings.num_cells == 6
