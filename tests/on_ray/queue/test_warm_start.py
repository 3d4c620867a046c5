"""What a search knows before its first trial, from another ledger and from its own file."""

import pytest

from rse_study.errors import InputError
from rse_study.on_ray.queue.warm_start import first_points, known_trials
from rse_study.results.study_record import KnownTrial
from rse_study.search.choice import best_known
from tests.on_ray.queue.world import World, identify

NUM_TRIALS = 8


@pytest.fixture
def content(study_content):
    return study_content | {"num_trials": NUM_TRIALS}


def height(cell):
    """A value that tells trials apart: rho = 0.8 is best, and the base, at 0.5, is not."""
    return 50.0 - 10 * (cell.trial.method.blend.rho - 0.8) ** 2


class WarmWorld(World):
    """A search that knows some of another one in the same store."""

    def __init__(self, folder, content):
        super().__init__(folder, content)
        self.known = known_trials(self.checked, folder.parent, identify)


@pytest.fixture
def warmed(opened, content):
    """Opens a search that knows some of `cold`, which ran eight trials, or of what it lists."""
    cold = opened(World, content, "cold")
    cold.run(cold.queue(), height)

    def warm(name="warm", content=content, **warm_start):
        return opened(WarmWorld, content | {"name": name, "warm_start": warm_start}, name)

    return warm


def proposals(cells):
    return [dict(cell.proposal) for cell in cells]


def test_what_another_search_came_to_is_known_and_its_best_runs_here_first(warmed):
    warm = warmed(study="cold")
    assert [one.trial for one in warm.known] == list(range(NUM_TRIALS))
    assert {one.study for one in warm.known} == {"cold"}
    best = max(warm.known, key=lambda one: one.values)
    ran = warm.run(warm.queue(), height)
    assert len(ran) == NUM_TRIALS
    assert proposals(ran)[:2] == [warm.checked.space.base_point, best.proposal]
    assert [one.proposal for one in warm.known if one.proposal in proposals(ran)[2:]] == []


def test_what_is_known_changes_what_is_proposed(warmed):
    """Beside a search that begins with the same points, and is told nothing."""
    warm = warmed(study="cold")
    first = first_points(warm.checked, warm.known)
    untold = warmed("untold", trials=first[1:])
    assert first_points(untold.checked) == first
    ran, without = warm.run(warm.queue(), height), untold.run(untold.queue(), height)
    assert proposals(ran)[:2] == proposals(without)[:2]
    assert proposals(ran)[2] != proposals(without)[2]


def test_killed_at_every_trial_a_warm_search_runs_the_same_ones(warmed):
    whole = warmed("whole", study="cold")
    expected = proposals(whole.run(whole.queue(), height))
    killed = warmed("killed", study="cold", trials=[])
    ran = []
    for _ in range(NUM_TRIALS):
        cell = killed.queue().next_cell()  # a driver that dies
        cell = (queue := killed.queue()).next_cell()
        killed.end(queue, cell, height(cell))
        ran.append(cell)
    assert proposals(ran) == expected


def test_listed_points_run_after_the_base_and_leave_its_values_where_they_are(warmed):
    listed = warmed(trials=[{"rho": 0.25}, {"rho": 0.75}])
    base = listed.checked.space.base_point
    assert first_points(listed.checked) == [base, base | {"rho": 0.25}, base | {"rho": 0.75}]
    assert proposals(listed.run(listed.queue(), height))[:3] == first_points(listed.checked)


def test_the_best_that_is_known_is_not_stopped_early(warmed, content):
    warm = warmed(
        content=content | {"early_stopping": {"name": "asha", "first": 1, "factor": 2}}, study="cold"
    )
    best, queue = max(warm.known, key=lambda one: one.values).proposal, warm.queue()
    rungs = {}
    while (cell := queue.next_cell()) is not None:
        rungs[cell.number] = (dict(cell.proposal) == best, queue.rungs_of(cell))
        warm.end(queue, cell, height(cell))
    assert [waits for is_best, waits in rungs.values() if is_best] == [()]
    assert all(waits for is_best, waits in rungs.values() if not is_best)


def test_cells_of_another_base_or_seed_are_not_known(warmed, content):
    for other in ({"base": content["base"] | {"batch_size": 9}}, {"seeds": [5]}):
        with pytest.raises(InputError, match="none of its 8 complete cells would be a cell of this search"):
            warmed(content=content | other, study="cold")


def test_trials_outside_a_narrower_space_are_not_known(warmed, content):
    narrow = content | {"search": content["search"] | {"rho": {"float": [0.4, 1.0]}}}
    warm = warmed(content=narrow, study="cold")
    assert 0 < len(warm.known) < NUM_TRIALS
    assert all(one.proposal["rho"] >= 0.4 for one in warm.known)


def test_a_trial_of_fewer_steps_is_not_the_best_that_is_known():
    few = KnownTrial(study="s", trial=1, proposal={}, values=(9.0,), num_steps=60)
    more = KnownTrial(study="s", trial=2, proposal={}, values=(8.0,), num_steps=180)
    assert best_known([few, more], ["maximize"]) == [more]


def test_a_study_that_is_not_there_is_named(warmed):
    with pytest.raises(InputError, match="nobody"):
        warmed(study="nobody")
