"""Cells of the ablation path, and which numbers they have. Nothing runs here."""

import pytest

from rse_study.on_ray.queue import Cell
from rse_study.on_ray.queue.stages import confirm_cells, path_cells, path_rounds
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point
from rse_study.study.record import study_record
from tests.on_ray.queue.world import identify
from tests.on_ray.world import checked_of, few_pairs
from tests.results.world import begin, end

BEST = {"alpha": 1e-4, "rho": 0.9}
BASE = {"alpha": 1e-5, "rho": 0.5}


def path_of(content, **options):
    return checked_of(content | {"confirm": {"seeds": [1]}, "ablation_path": {"seeds": [1, 2]}} | options)


class PathWorld:
    """A ledger whose search is over, and what runs in it."""

    def __init__(self, folder, checked):
        self.checked, self.ledger = checked, Ledger.open(folder)
        self.freeze(checked)
        for number, (proposal, dev) in enumerate(((BASE, 50.0), (BEST, 55.0))):
            self.run_trial(number, proposal, dev)

    def freeze(self, checked):
        self.checked = checked
        self.ledger.freeze(study_record(checked, few_pairs("builtin/dev")))

    def run_trial(self, number, proposal, dev):
        trial = self.checked.space.apply(proposal)
        cell = Cell(number, 0, identify(trial, 0), trial, proposal, label="" if number else "base")
        self.run(cell, dev)

    def run(self, cell, dev):
        history, final = (Point(t=3, metrics={"dev": dev}),), {"dev": dev}
        end(self.ledger, begin(self.ledger, cell.record()), history=history, final=final)

    def path(self):
        return path_cells(self.checked, self.ledger, identify)

    def run_open(self):
        """Run what is known of the path and has not ended: alpha brings 1, rho 2."""
        ended = {one.identity for one in self.ledger.cells() if one.status == "complete"}
        for cell in self.path():
            if cell.identity not in ended:
                gain = (cell.proposal["alpha"] != 1e-5) + 2 * (cell.proposal["rho"] != 0.5)
                self.run(cell, 50.0 + gain + cell.seed)


@pytest.fixture
def world(opened, study_content):
    return opened(PathWorld, path_of(study_content))


def shown(cells):
    return [(cell.number, cell.seed, cell.label, dict(cell.proposal)) for cell in cells]


def test_the_first_round_is_the_base_and_each_axis_alone(world):
    assert shown(world.path()) == [
        (number, seed, label, BASE | flipped)
        for number, label, flipped in (
            (0, "base", {}),
            (-2, "base with alpha", {"alpha": 1e-4}),
            (-3, "base with rho", {"rho": 0.9}),
        )
        for seed in (1, 2)
    ]
    assert {cell.stage for cell in world.path()} == {"path"}


def test_points_keep_their_numbers_and_the_last_is_the_best_trial(world):
    first = shown(world.path())
    world.run_open()
    assert shown(world.path()) == [*first, (1, 1, "", BEST), (1, 2, "", BEST)]
    world.run_open()
    assert len(world.path()) == 8


def test_what_the_confirmation_ran_has_its_identity_and_is_taken_as_it_is(world):
    confirmed = confirm_cells(world.checked, world.ledger, identify)
    assert {cell.identity for cell in confirmed} < {cell.identity for cell in [*world.path(), *confirmed]}
    for cell in confirmed:
        world.run(cell, 42.0)
    world.run_open()
    stages = {(one.trial, one.seed): one.stage for one in world.ledger.cells() if one.seed}
    assert stages[0, 1] == stages[1, 1] == "confirm"
    world.run_open()
    with_path = [one for one in world.ledger.cells() if one.stage == "path"]
    assert len(with_path) == 4 * 2 - 2


def test_a_confirmation_that_grows_takes_over_what_the_path_ran(world, study_content):
    world.run_open()
    world.freeze(path_of(study_content, confirm={"seeds": [1, 2]}))
    cells = confirm_cells(world.checked, world.ledger, identify)
    world.ledger.claim([cell.record() for cell in cells])
    by_stage = {(one.trial, one.seed): one.stage for one in world.ledger.cells()}
    assert by_stage[0, 2] == "confirm"
    assert by_stage[-2, 2] == "path"


def test_a_search_that_grows_takes_no_number_of_the_path(world, study_content):
    world.run_open()
    world.freeze(path_of(study_content, num_trials=3))
    assert world.path() == []  # the search is not over again
    world.run_trial(2, BEST | {"rho": 0.8}, 60.0)
    cells = world.path()
    world.ledger.retire_others({cell.identity for cell in cells}, "path")
    world.ledger.plan([cell.record() for cell in cells])
    numbers = {cell.label: cell.number for cell in cells}
    assert numbers == {"base": 0, "base with alpha": -2, "base with rho": -4}  # -3 is rho = 0.9
    assert {one.trial for one in world.ledger.cells() if one.retired} == {-3}


def test_by_importance_all_points_are_planned_at_once(opened, study_content):
    checked = path_of(study_content, ablation_path={"seeds": [1, 2], "order": "importance"})
    assert [cell.number for cell in opened(PathWorld, checked).path()[::2]] == [0, -2, 1]


def test_rounds_come_until_the_path_is_over_or_one_brings_nothing_new(world):
    rounds = path_rounds(world.checked, world.ledger, identify)
    assert len(next(rounds)) == 6
    world.run_open()
    assert len(next(rounds)) == 8
    world.run_open()
    assert list(rounds) == []
    again = path_rounds(world.checked, world.ledger, identify)
    assert len(next(again)) == 8  # once more, so that what changed since is entered
    assert list(again) == []


def test_a_round_whose_cells_fail_is_not_tried_twice(world):
    rounds = path_rounds(world.checked, world.ledger, identify)
    assert len(next(rounds)) == 6
    assert list(rounds) == []
