"""Points that stand for trials nobody has proposed yet."""

from collections import Counter
from itertools import product

import pytest

from rse_study.study.planning.data_sizes import DataSizes
from rse_study.study.planning.sampling import sample, spread
from rse_study.study.planning.workload import workload_of
from tests.study.planning.priced import grid_of, search_of


def test_the_same_seed_gives_the_same_trials_and_a_grid_is_its_own_sample(content):
    space = search_of(content).space
    assert sample(space, 3) == sample(space, 3)
    assert sample(space, 3) != sample(space, 4)
    checked = grid_of(content, {"axes": {"rho": [0, 0.5, 1]}})
    assert [trial.method.blend.rho for trial in spread(checked)] == [0.0, 0.5, 1.0]


def test_points_are_spread_over_every_axis_and_axes_do_not_move_together(content):
    checked = search_of(content)
    trials = sample(checked.space, 0)
    assert len(trials) == 64
    norms = Counter(trial.method.token_level.ball.norm for trial in trials)
    assert set(norms) == {"l1", "l2", "linf"}
    assert all(abs(number - 64 / 3) < 4 for number in norms.values())
    steps = Counter(trial.method.blend.pgd.num_steps for trial in trials)
    assert set(steps) == set(range(1, 17))
    assert all(2 <= number <= 6 for number in steps.values())
    # log [1e-6, 1e-3]: half of it lies below 10^-4.5
    below = sum(trial.method.blend.pgd.step_size < 10**-4.5 for trial in trials)
    assert abs(below - 32) <= 3
    rhos = [trial.method.blend.rho for trial in trials]
    assert all(abs(sum(rho < q for rho in rhos) - 64 * q) <= 4 for q in (0.25, 0.5, 0.75))
    trials = sample(search_of(content).space, 0)
    halves = Counter((t.method.blend.rho < 0.5, t.method.masks.phi < 0.15) for t in trials)
    assert all(abs(halves[corner] - 16) <= 6 for corner in product((True, False), repeat=2))


def test_the_mean_cost_is_that_of_the_whole_space(content, tmp_path):
    """Against every value of N, the only axis that changes a cost here."""
    axes = {"N": {"int": [1, 16], "into": ["pgd.num_steps", "fgsm.num_steps"]}}
    checked, sizes = search_of(content, search=axes, num_trials=16), DataSizes(tmp_path)
    told = [workload_of(trial, sizes).gradient_passes for trial in sample(checked.space, 5)]
    exact = [60 * (N + 1) for N in range(1, 17)]
    assert sum(told) / len(told) == pytest.approx(sum(exact) / len(exact), rel=0.03)
