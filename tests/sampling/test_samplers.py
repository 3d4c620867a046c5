from typing import get_args

import numpy as np
import pytest
from scipy.stats import kstest

from rse_study.sampling.samplers import OF_OPTUNA, WITHOUT_MODEL, grid_point, quasi_random_point
from rse_study.study.definition.domains import Choice, Float, Int, Log
from rse_study.study.definition.parts import Sampler
from tests.cases import cases

DOMAINS = {
    "N": Int(int=(1, 4)),
    "norm": Choice(choice=("l1", "l2", "linf")),
    "phi": Choice(choice=(0.0, 0.1)),
}
WIDE = {"alpha": Log(log=(1e-6, 1e-3)), "rho": Float(float=(0, 1)), **DOMAINS}


def test_every_combination_comes_once_and_then_again():
    points = [tuple(grid_point(DOMAINS, index).values()) for index in range(4 * 3 * 2)]
    assert len(set(points)) == 24
    assert points[:2] == [(1, "l1", 0.0), (1, "l1", 0.1)]
    assert grid_point(DOMAINS, 24) == grid_point(DOMAINS, 0)


@cases("name", WITHOUT_MODEL)
def test_points_depend_on_axes_seed_and_index_alone(name):
    """Every sampler of the table: a new one is tested by its entry."""
    point, axes = WITHOUT_MODEL[name], DOMAINS if name == "grid" else WIDE
    points = [point(axes, 0, index) for index in range(8)]
    assert [point(axes, 0, index) for index in reversed(range(8))] == points[::-1]
    assert (points != [point(axes, 1, index) for index in range(8)]) == (name != "grid")
    assert all(one.keys() == axes.keys() for one in points)
    assert all(axes[axis].holds(value) for one in points for axis, value in one.items())


def test_quasi_random_points_fill_each_axis_evenly():
    points = [quasi_random_point(WIDE, 0, index) for index in range(64)]
    spread = np.log10([point["alpha"] for point in points]) / 3 + 2
    # 64 Sobol points: one in each 64th of the axis, far nearer to uniform than random ones.
    assert kstest(spread, "uniform").statistic < 1 / 32
    assert [sum(point["N"] == n for point in points) for n in (1, 2, 3, 4)] == [16, 16, 16, 16]


SHARES = [
    (Log(log=(1e-6, 1e-2)), 0.5, 1e-4),
    (Int(int=(1, 4)), 0.99, 4),
    (Int(int=(1, 4)), 0.0, 1),
]


@cases(("domain", "u", "expected"), SHARES)
def test_a_share_of_an_axis_is_a_value(domain, u, expected):
    assert domain.at(u) == pytest.approx(expected)


def test_every_sampler_a_study_may_name_is_one():
    named = set(get_args(Sampler.model_fields["name"].annotation))
    assert named == OF_OPTUNA.keys() | WITHOUT_MODEL.keys()
