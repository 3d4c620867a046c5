import pytest

from rse_study.on_ray.importance import FEWEST, importance_rows
from rse_study.on_ray.samplers import quasi_random_point
from rse_study.study.definition.domains import Float
from rse_study.study.definition.space import Axis

DOMAINS = {"rho": Float(float=(0, 1)), "phi": Float(float=(0, 0.3))}
AXES = [Axis(name, domain, (name,)) for name, domain in DOMAINS.items()]


def trials(num):
    points = [quasi_random_point(DOMAINS, 0, index) for index in range(num)]
    return [(point, -((point["rho"] - 0.7) ** 2)) for point in points]


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_the_axis_that_decides_has_the_larger_share(direction):
    shares = {row.axis: row.value for row in importance_rows(AXES, trials(64), direction)}
    assert shares["rho"] > 3 * shares["phi"]
    assert sum(shares.values()) == pytest.approx(1.0)


def test_a_handful_of_trials_says_nothing():
    assert importance_rows(AXES, trials(FEWEST - 1), "maximize") == []
    assert importance_rows(AXES, [(point, 1.0) for point, _ in trials(64)], "maximize") == []


def test_number_of_trials_and_evaluator_go_with_every_share():
    assert {(row.num_trials, row.evaluator) for row in importance_rows(AXES, trials(16), "maximize")} == {
        (16, "PED-ANOVA")
    }
