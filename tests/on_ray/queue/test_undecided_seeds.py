"""Seeds of a grid's rows until they are decided: which cells the queue gives. Nothing trains here."""

import math

import pytest

from rse_study.on_ray.queue.cell_queue import CellQueue
from rse_study.on_ray.queue.cell_sources import FixedCells, GrowingCells
from rse_study.on_ray.queue.stages import every_grid_cell, grid_cells
from rse_study.on_ray.stored import StudyFiles
from rse_study.results.files.ledger import Ledger
from rse_study.study.record import study_record
from tests.on_ray.queue.world import World, identify
from tests.on_ray.world import checked_of, few_pairs, grid_of

ROWS = {"base": {}, "better": {"alpha": 1e-3}, "alike": {"alpha": 1e-4}, "worse": {"alpha": 1e-6}}
AT_MOST = 10


@pytest.fixture(scope="module")
def content(study_content):
    seeds = {"until": "decided", "at_least": 3, "at_most": AT_MOST}
    return grid_of(study_content, grid={"rows": ROWS, "baseline": "base"}, seeds=seeds)


def score(cell):
    """A better row, a worse one whose seeds differ more, and one of which nothing can be said."""
    noise = math.cos(3 * cell.seed + 1)
    shifts = {"base": 0, "better": 3 + 0.2 * noise, "alike": noise, "worse": -2.5 + 1.2 * noise}
    return 50.0 + math.cos(5 * cell.seed) + shifts[cell.label]


class GrowingWorld(World):
    """A grid whose rows get seeds until they are decided."""

    score, stage = staticmethod(score), "grid"

    def __init__(self, folder, content):
        self.checked = checked_of(content)
        self.open(folder)

    def open(self, folder):
        self.ledger, self.files = Ledger.open(folder), StudyFiles(folder)
        self.ledger.freeze(study_record(self.checked, few_pairs("builtin/dev")))

    def cells(self):
        return grid_cells(self.checked, self.ledger, identify)

    def every(self):
        return every_grid_cell(self.checked, self.ledger, identify)

    def grid(self):
        self.ledger.close_attempts("the driver ended while it ran")
        cells = self.cells()
        self.ledger.claim([cell.record() for cell in cells])
        self.ledger.retire_others({cell.identity for cell in cells}, self.stage)
        is_growing = self.checked.study.gives_seeds_until_decided
        grown = [GrowingCells(self.every, self.ledger)] if is_growing else []
        source = FixedCells(cells, self.ledger, *grown)
        return CellQueue(self.checked.study, self.stage, source, self.ledger, self.files)

    def run_at_a_time(self, number):
        """All cells, so many at a time; the last to start ends first."""
        queue, running = self.grid(), []
        while True:
            while len(running) < number and (cell := queue.next_cell()) is not None:
                running.append(cell)
            if not running:
                return
            cell = running.pop()
            self.end(queue, cell, self.score(cell))

    def run_killed_at_every_cell(self):
        """All cells; the driver dies after each, in turn before its result, before its entry and after it."""
        number, queue = 0, self.grid()
        while queue.num_left or (queue := self.grid()).num_left:  # what was adopted may ask for more
            cell, number = queue.next_cell(), number + 1
            if number % 3 == 0:
                self.train(cell, self.score(cell))
            elif number % 3 == 1:
                self.end(queue, cell, self.score(cell))
            queue = self.grid()
        return number

    def seeds(self):
        given = {label: [] for label in ROWS}
        for record in self.ledger.cells():
            if not record.retired:
                given[record.label].append(record.seed)
        return {label: len(seeds) for label, seeds in given.items() if seeds == list(range(len(seeds)))}

    def content_of(self):
        return [(one.identity, one.trial, one.seed, one.status, one.label) for one in self.ledger.cells()]


@pytest.fixture(scope="module")
def whole(content, tmp_path_factory):
    """A study that ran one cell at a time, without a stop: for reading only."""
    world = GrowingWorld(tmp_path_factory.mktemp("whole") / "little", content)
    world.run_at_a_time(1)
    yield world
    world.ledger.close()


def test_undecided_rows_alone_get_further_seeds_and_the_baseline_as_many_as_they_need(whole):
    seeds = whole.seeds()
    assert seeds["base"] == seeds["alike"] == AT_MOST
    assert 3 < seeds["better"] < seeds["worse"] < AT_MOST
    assert whole.grid().num_left == 0


def test_several_cells_at_a_time_give_the_same_cells(opened, content, whole):
    several = opened(GrowingWorld, content, "several")
    several.run_at_a_time(5)
    assert several.content_of() == whole.content_of()


def test_killed_at_every_cell_and_resumed_the_ledger_is_the_same(opened, content, whole):
    killed = opened(GrowingWorld, content, "killed")
    assert killed.run_killed_at_every_cell() > sum(whole.seeds().values())
    assert killed.content_of() == whole.content_of()


def test_a_row_with_a_failed_cell_gets_no_further_seeds_before_it_has_run_again(opened, content, whole):
    world = opened(GrowingWorld, content)
    queue, running = world.grid(), True
    while running:
        cell = queue.next_cell()
        if (running := cell is not None) and (cell.label, cell.seed) == ("better", 1):
            queue.finish(cell, "out of memory", for_good=True)
        elif running and (cell.label, cell.seed) == ("worse", 1):
            world.end(queue, cell, math.nan, status="failed", reason="step 1: the loss is not finite")
        elif running:
            world.end(queue, cell, score(cell))
    assert world.seeds() == whole.seeds() | {"better": 3, "worse": 3}
    again = world.grid()
    first = again.next_cell()
    assert (first.label, first.seed) == ("better", 1)


def test_more_seeds_at_most_go_on_and_fewer_retire_what_is_above(opened, content):
    world = opened(GrowingWorld, content)
    world.run_at_a_time(1)
    before = world.seeds()
    more = opened(GrowingWorld, content | {"seeds": content["seeds"] | {"at_most": AT_MOST + 3}})
    more.run_at_a_time(1)
    assert more.seeds() == before | {"base": AT_MOST + 3, "alike": AT_MOST + 3}
    fewer = opened(GrowingWorld, content | {"seeds": content["seeds"] | {"at_most": 3}})
    assert fewer.grid().num_left == 0
    assert fewer.seeds() == dict.fromkeys(ROWS, 3)


def test_seeds_that_were_listed_before_count_and_are_kept(opened, content):
    listed = opened(GrowingWorld, content | {"seeds": [0, 1, 2, 3, 4, 5, 6, 7, 20]})
    listed.run_at_a_time(1)
    world = opened(GrowingWorld, content)
    world.run_at_a_time(1)
    assert world.seeds() == {"base": AT_MOST, "better": 8, "worse": 8, "alike": AT_MOST}
