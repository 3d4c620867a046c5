"""Seeds of confirmed trials until they are decided: which cells the queue gives. Nothing trains here."""

import math
from functools import partial

import pytest

from rse_study.on_ray.queue.cell_queue import CellQueue
from rse_study.on_ray.queue.cell_sources import FixedCells
from rse_study.on_ray.queue.stages import confirm_cells, every_confirm_cell, path_rounds
from rse_study.search.budget import has_room
from rse_study.search.state import search_state
from tests.on_ray.queue.test_undecided_seeds import GrowingWorld
from tests.on_ray.queue.world import identify

AT_MOST = 10
FIRST = 2  # the search runs seed 1
UNTIL = {"until": "decided", "at_least": 3, "at_most": AT_MOST}
BASE, BETTER, ALIKE, WORSE, UNCONFIRMED = range(5)


@pytest.fixture(scope="module")
def content(study_content):
    confirm = {"num_best": 3, "seeds": UNTIL}
    return study_content | {"num_trials": 5, "seeds": [1], "confirm": confirm, "early_stopping": None}


def score(cell):
    """In the search, trial 1 is best; confirmed, it is better, trial 3 is worse, and of trial 2 nobody can say."""
    if cell.stage == "search":
        return 50.0 + (0, 3, 1, -1, -9)[cell.number]
    noise = math.cos(3 * cell.seed + 1)
    shifts = {BASE: 0, BETTER: 3 + 0.2 * noise, ALIKE: noise, WORSE: -2.5 + 1.2 * noise}
    return 50.0 + math.cos(5 * cell.seed) + shifts.get(cell.number, 0)


class ConfirmingWorld(GrowingWorld):
    """A search that has ended, and the confirmation of its three best trials."""

    score, stage = staticmethod(score), "confirm"

    def __init__(self, folder, content):
        super().__init__(folder, content)
        self.run(self.queue(has_room=partial(has_room, self.ledger)), score)

    def cells(self):
        return confirm_cells(self.checked, self.ledger, identify)

    def every(self):
        return every_confirm_cell(self.checked, self.ledger, identify)

    def run_path(self):
        """All rounds, as a driver runs them."""
        for cells in path_rounds(self.checked, self.ledger, identify):
            self.ledger.claim([cell.record() for cell in cells])
            self.ledger.retire_others({cell.identity for cell in cells}, "path")
            source = FixedCells(cells, self.ledger)
            self.run(CellQueue(self.checked.study, "path", source, self.ledger, self.files), score)

    def seeds(self, stage="confirm"):
        given = {}
        for one in self.ledger.cells():
            if one.stage == stage and not one.retired:
                given.setdefault(one.trial, []).append(one.seed)
        return {trial: sorted(seeds) for trial, seeds in given.items()}

    def state(self):
        return search_state(self.ledger, self.ledger.cells(), is_held=True)


def first(number):
    return list(range(FIRST, FIRST + number))


@pytest.fixture(scope="module")
def whole(content, tmp_path_factory):
    """A confirmation that ran one cell at a time, without a stop: for reading only."""
    world = ConfirmingWorld(tmp_path_factory.mktemp("whole") / "little", content)
    world.run_at_a_time(1)
    yield world
    world.ledger.close()


def test_seeds_follow_those_of_the_search_and_undecided_trials_alone_get_further_ones(whole):
    seeds = whole.seeds()
    assert seeds[BASE] == seeds[ALIKE] == first(AT_MOST)
    assert UNCONFIRMED not in seeds
    better, worse = len(seeds[BETTER]), len(seeds[WORSE])
    assert 3 < better < worse < AT_MOST
    assert (seeds[BETTER], seeds[WORSE]) == (first(better), first(worse))
    verdicts = {trial: one.verdict for trial, one in whole.state().rows.courses.items()}
    assert verdicts == {BETTER: "better", ALIKE: "undecided", WORSE: "worse"}
    assert whole.grid().num_left == 0


def test_the_state_counts_what_may_still_run_and_ends_with_nothing_missing(opened, content, whole):
    assert whole.state().counts["missing"] == 0
    assert whole.state().most_cells["confirm"] == sum(map(len, whole.seeds().values()))
    world = opened(ConfirmingWorld, content)
    assert world.state().most_cells["confirm"] == 4 * AT_MOST
    assert world.state().counts["missing"] == 4 * AT_MOST
    world.grid()
    assert world.state().counts["missing"] == 4 * AT_MOST


def test_a_list_becomes_bounds_whose_seeds_count_and_the_bounds_a_list(opened, content, whole):
    def with_seeds(seeds):
        return opened(ConfirmingWorld, content | {"confirm": {"num_best": 3, "seeds": seeds}})

    with_seeds([*first(8), 100]).run_at_a_time(1)
    world = with_seeds(UNTIL)
    world.run_at_a_time(1)
    assert world.seeds() == {BASE: first(AT_MOST), BETTER: first(8), ALIKE: first(AT_MOST), WORSE: first(8)}
    listed = with_seeds([2, 3, 100])
    assert listed.grid().num_left == 0
    assert listed.seeds() == {trial: [2, 3, 100] for trial in (BASE, BETTER, ALIKE, WORSE)}


def test_a_budget_that_ends_the_search_leaves_fewer_trials_to_decide(opened, content):
    cut = content | {
        "search_budget": {"steps": 15},
        "seeds": [0],
        "num_trials": 9,
        "confirm": {"num_best": 6, "seeds": UNTIL},
    }
    world = opened(ConfirmingWorld, cut)
    state = world.state()
    assert (state.study.is_cut_short, state.study.num_trials) == (True, 5)
    assert (state.rows.num_rows, state.most_cells["confirm"]) == (5, 5 * AT_MOST)
    world.run_at_a_time(1)
    assert world.state().counts["missing"] == 0


def test_the_path_takes_what_was_confirmed_and_gives_back_what_a_later_confirmation_wants(opened, content):
    far = FIRST + AT_MOST + 1
    with_path = content | {"ablation_path": {"seeds": [FIRST, FIRST + AT_MOST - 1, far]}}
    world = opened(ConfirmingWorld, with_path)
    assert world.state().counts["missing"] == 4 * AT_MOST + 4 * 3 - 2
    world.run_at_a_time(1)
    before = world.seeds()
    world.run_path()
    assert world.seeds() == before
    assert world.seeds("path")[BASE] == [far]
    assert world.seeds("path")[BETTER] == [FIRST + AT_MOST - 1, far]  # it was decided before it had this seed
    assert world.state().counts["missing"] == 0
    more = opened(
        ConfirmingWorld, with_path | {"confirm": {"num_best": 3, "seeds": UNTIL | {"at_most": AT_MOST + 3}}}
    )
    more.run_at_a_time(1)
    assert more.seeds() == before | dict.fromkeys((BASE, ALIKE), first(AT_MOST + 3))
    assert BASE not in more.seeds("path")
    assert {one.number for one in more.ledger.attempts()} == {1}
    more.run_path()
    assert more.state().counts["missing"] == 0
