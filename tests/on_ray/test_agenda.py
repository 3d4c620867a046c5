import math

import pytest

from rse_study.errors import InputError
from rse_study.on_ray.agenda import Agenda
from rse_study.on_ray.proposer import Proposer
from rse_study.results.ledger import Ledger
from rse_study.results.result_file import Point, Result, write_result
from rse_study.spec import fingerprint_of
from rse_study.study.config import Study
from rse_study.study.reading import build
from rse_study.study.validation import check_study


@pytest.fixture
def content(study_content):
    return study_content | {"num_trials": 4}


class World:
    """Agendas over one folder, as a driver makes them at every start."""

    def __init__(self, folder, content):
        self.folder = folder
        self.checked = check_study(build(Study, content, where="x.yaml"), where="x.yaml")
        self.ledger = Ledger.open(folder)

    def agenda(self):
        study = self.checked.study
        domains = {axis.name: axis.domain for axis in self.checked.space.axes}
        proposer = Proposer(domains, study.sampler, study.search_seed, study.objective.direction)
        return Agenda(self.checked, self.ledger, proposer, self.folder / "cells", identify)

    def train(self, agenda, cell, dev=50.0, **settings):
        """What a worker leaves behind."""
        history = (Point(t=3, metrics={"dev": dev}),)
        result = Result(
            identity=cell.identity, seed=cell.seed, config={}, history=history, final={"dev": dev}, **settings
        )
        write_result(agenda.directory(cell.identity), result)


def identify(trial, seed):
    return fingerprint_of([trial.identity(), seed])


@pytest.fixture
def world(tmp_path, content):
    made = World(tmp_path, content)
    yield made
    made.ledger.close()


def test_the_papers_setting_comes_first(world):
    cell = world.agenda().next_cell()
    assert (cell.number, cell.proposal) == (0, {"alpha": 1e-5, "rho": 0.5})
    assert cell.trial == world.checked.study.base


def test_every_cell_is_in_the_ledger_before_it_runs(world):
    cell = world.agenda().next_cell()
    (record,) = world.ledger.cells()
    assert (record.identity, record.status, record.proposal) == (cell.identity, "running", cell.proposal)


def test_a_search_ends_after_its_trials(world):
    agenda = world.agenda()
    for _ in range(4):
        cell = agenda.next_cell()
        world.train(agenda, cell)
        assert agenda.finish(cell).status == "complete"
    assert agenda.next_cell() is None
    assert world.agenda().num_left == 0


def test_an_interrupted_cell_runs_again_and_asks_nothing_new(world):
    agenda = world.agenda()
    first = agenda.next_cell()
    world.train(agenda, first)
    agenda.finish(first)
    second = agenda.next_cell()
    again = world.agenda()
    assert again.num_left == 3
    assert again.next_cell() == second
    assert len(world.ledger.cells()) == 2


def test_a_result_the_ledger_does_not_know_is_adopted(world):
    agenda = world.agenda()
    cell = agenda.next_cell()
    world.train(agenda, cell, dev=61.5)
    assert world.agenda().num_left == 3
    (record,) = world.ledger.cells()
    assert record.status == "complete"
    assert [row.value for row in world.ledger.history(cell.identity)] == [61.5]


def test_a_damaged_result_is_no_result(world):
    agenda = world.agenda()
    cell = agenda.next_cell()
    world.train(agenda, cell)
    path = agenda.directory(cell.identity) / "result.json"
    path.write_text(path.read_text().replace("50.0", "99.0"))
    assert world.agenda().next_cell() == cell


def test_a_failed_cell_keeps_its_reason_and_the_search_goes_on(world):
    agenda = world.agenda()
    cell = agenda.next_cell()
    record = agenda.finish(cell, "step 2: the loss is not finite")
    assert (record.status, record.reason) == ("failed", "step 2: the loss is not finite")
    assert agenda.next_cell().number == 1
    again = world.agenda()
    assert again.next_cell().number == 1  # the failed one is not run again


def test_a_resumed_search_proposes_what_an_uninterrupted_one_does(tmp_path, content):
    def proposals(folder, restart):
        world = World(folder, content)
        agenda, seen = world.agenda(), []
        for number in range(4):
            if restart:
                agenda = world.agenda()
            cell = agenda.next_cell()
            world.train(agenda, cell, dev=math.sin(number))
            agenda.finish(cell)
            seen.append((cell.identity, cell.proposal))
        world.ledger.close()
        return seen

    assert proposals(tmp_path / "a", restart=False) == proposals(tmp_path / "b", restart=True)


def test_no_identity_runs_twice(tmp_path, content):
    content = content | {"search": {"rho": {"choice": [0.0, 0.5, 1.0]}}, "num_trials": 3}
    world = World(tmp_path, content)
    agenda = world.agenda()
    cells = [agenda.next_cell() for _ in range(3)]
    assert {cell.proposal["rho"] for cell in cells} == {0.0, 0.5, 1.0}
    world.ledger.close()


def test_another_studys_folder_is_not_taken_over(world, tmp_path):
    with pytest.raises(InputError, match="one writer"):
        Ledger.open(tmp_path)
