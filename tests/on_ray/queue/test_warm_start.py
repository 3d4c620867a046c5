"""What a search knows before its first trial, from another ledger and from its own file."""

import pytest

from rse_study.errors import InputError
from rse_study.on_ray.queue.cell_queue import CellQueue
from rse_study.on_ray.queue.proposed_cells import ProposedCells
from rse_study.on_ray.queue.warm_start import first_points, known_trials
from rse_study.results.records import KnownTrial
from rse_study.sampling.proposer import Proposer
from rse_study.search.choice import best_known
from rse_study.study.checking.validation import check_study
from rse_study.study.definition.config import Study
from rse_study.study.definition.reading import build
from tests.on_ray.queue.test_cell_queue import World, identify

NUM_TRIALS = 8


@pytest.fixture
def content(study_content):
    return study_content | {
        "num_trials": NUM_TRIALS,
        "sampler": {"name": "tpe", "num_startup": 2},
        "early_stopping": None,
    }


def height(cell):
    """A value that tells trials apart: rho = 0.8 is best, and the base, at 0.5, is not."""
    return 50.0 - 10 * (cell.trial.method.blend.rho - 0.8) ** 2


@pytest.fixture
def store(tmp_path, content):
    """A store with a search of eight trials, `cold`."""
    made = World(tmp_path / "cold", content)
    made.run(made.queue(), height)
    made.ledger.close()
    return tmp_path


class Warm:
    """A search that knows some of `cold`, in a folder of its own."""

    def __init__(self, store, content, name="warm", **warm_start):
        content = content | {"name": name, "warm_start": warm_start}
        self.world = World(store / name, content)
        self.checked = check_study(build(Study, content, where="x.yaml"), where="x.yaml")
        self.known = known_trials(self.checked, store, identify)

    def queue(self):
        self.world.ledger.close_attempts("the driver ended while it ran")
        study, domains = self.checked.study, {axis.name: axis.domain for axis in self.checked.space.axes}
        proposer = Proposer(domains, study.sampler, study.search_seed, [study.objective.direction])
        source = ProposedCells(self.checked, proposer, identify, self.known)
        return CellQueue(study, "search", source, self.world.ledger, self.world.files, self.checked.rungs)


def proposals(cells):
    return [dict(cell.proposal) for cell in cells]


def test_what_another_search_came_to_is_known_and_its_best_runs_here_first(store, content):
    warm = Warm(store, content, study="cold")
    assert [one.trial for one in warm.known] == list(range(NUM_TRIALS))
    assert {one.study for one in warm.known} == {"cold"}
    best = max(warm.known, key=lambda one: one.values)
    ran = warm.world.run(warm.queue(), height)
    assert len(ran) == NUM_TRIALS
    assert proposals(ran)[:2] == [warm.checked.space.base_point, best.proposal]
    assert [one.proposal for one in warm.known if one.proposal in proposals(ran)[2:]] == []
    warm.world.ledger.close()


def test_what_is_known_changes_what_is_proposed(store, content):
    """Beside a search that begins with the same points, and is told nothing."""
    warm = Warm(store, content, study="cold")
    first = first_points(warm.checked, warm.known)
    untold = Warm(store, content, "untold", trials=first[1:])
    assert first_points(untold.checked) == first
    ran, without = warm.world.run(warm.queue(), height), untold.world.run(untold.queue(), height)
    assert proposals(ran)[:2] == proposals(without)[:2]
    assert proposals(ran)[2] != proposals(without)[2]
    for one in (warm, untold):
        one.world.ledger.close()


def test_killed_at_every_trial_a_warm_search_runs_the_same_ones(store, content):
    whole = Warm(store, content, "whole", study="cold")
    expected = proposals(whole.world.run(whole.queue(), height))
    killed = Warm(store, content, "killed", study="cold", trials=[])
    ran = []
    for _ in range(NUM_TRIALS):
        cell = killed.queue().next_cell()  # a driver that dies
        cell = (queue := killed.queue()).next_cell()
        killed.world.train(cell, height(cell))
        queue.finish(cell)
        ran.append(cell)
    assert proposals(ran) == expected
    for one in (whole, killed):
        one.world.ledger.close()


def test_listed_points_run_after_the_base_and_leave_its_values_where_they_are(store, content):
    listed = Warm(store, content, trials=[{"rho": 0.25}, {"rho": 0.75}])
    base = listed.checked.space.base_point
    assert first_points(listed.checked) == [base, base | {"rho": 0.25}, base | {"rho": 0.75}]
    assert proposals(listed.world.run(listed.queue(), height))[:3] == first_points(listed.checked)
    listed.world.ledger.close()


def test_the_best_that_is_known_is_not_stopped_early(store, content):
    warm = Warm(store, content | {"early_stopping": {"name": "asha", "first": 1, "factor": 2}}, study="cold")
    best, queue = max(warm.known, key=lambda one: one.values).proposal, warm.queue()
    rungs = {}
    while (cell := queue.next_cell()) is not None:
        rungs[cell.number] = (dict(cell.proposal) == best, queue.rungs_of(cell))
        warm.world.train(cell, height(cell))
        queue.finish(cell)
    assert [waits for is_best, waits in rungs.values() if is_best] == [()]
    assert all(waits for is_best, waits in rungs.values() if not is_best)
    warm.world.ledger.close()


def test_cells_of_another_base_are_not_known(store, content):
    other = content | {"base": content["base"] | {"batch_size": 9}}
    with pytest.raises(InputError, match="none of its 8 complete cells would be a cell of this search"):
        Warm(store, other, study="cold")


def test_trials_outside_a_narrower_space_are_not_known(store, content):
    narrow = content | {"search": content["search"] | {"rho": {"float": [0.4, 1.0]}}}
    warm = Warm(store, narrow, study="cold")
    assert 0 < len(warm.known) < NUM_TRIALS
    assert all(one.proposal["rho"] >= 0.4 for one in warm.known)
    warm.world.ledger.close()


def test_cells_of_another_seed_are_not_known(store, content):
    with pytest.raises(InputError, match="none of its 8 complete cells"):
        Warm(store, content | {"seeds": [5]}, study="cold")


def test_a_trial_with_fewer_seeds_is_not_the_best_that_is_known():
    few = KnownTrial(study="s", trial=1, proposal={}, values=(9.0,), num_steps=60)
    more = KnownTrial(study="s", trial=2, proposal={}, values=(8.0,), num_steps=180)
    assert best_known([few, more], ["maximize"]) == [more]


def test_a_study_that_is_not_there_is_named(store, content):
    with pytest.raises(InputError, match="nobody"):
        Warm(store, content, study="nobody")
