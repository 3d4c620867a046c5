"""Surfaces: their optimum is where they say, and their curves do what they say."""

import random

import numpy as np
import pytest

from benchmarks.search_arms.recorded import nearest_mean, recorded_curves, recorded_surface
from benchmarks.search_arms.surface import CrossingSurface, OrderedSurface, joint_domains, noise, unit_point

DOMAINS = joint_domains()
ORDERED, CROSSING = OrderedSurface(DOMAINS), CrossingSurface(DOMAINS)


def drawn(seed):
    draw = random.Random(seed)
    return {name: domain.at(draw.random()) for name, domain in DOMAINS.items()}


def placed(**places):
    return {name: domain.at(places.get(name, 0.5)) for name, domain in DOMAINS.items()}


def test_places_are_those_of_the_axes_and_the_best_of_the_ordered_surface_is_known():
    point = {axis: 0.25 for axis in DOMAINS if axis not in ("N", "norm")}
    found = unit_point(DOMAINS, placed(**point) | {"N": 16, "norm": "linf"})
    assert {axis: found[axis] for axis in point} == pytest.approx(point)
    assert (found["N"], found["norm"]) == (1.0, 1.0)
    best = placed(**ORDERED.best_place) | {"N": 6, "norm": "linf"}
    assert ORDERED.truth(best) == pytest.approx(80.0)
    assert max(ORDERED.truth(drawn(seed)) for seed in range(2000)) < 80.0
    for axis in ORDERED.best_place:
        assert ORDERED.truth(best | {axis: DOMAINS[axis].at(0.99)}) < 80.0


def test_axes_of_the_ordered_surface_act_together_and_flat_ones_change_nothing():
    def truth(alpha, number):
        return ORDERED.truth(
            placed(**ORDERED.best_place) | {"N": number, "alpha": DOMAINS["alpha"].at(alpha)}
        )

    # At N = 6 both sides of the best alpha are alike; away from it, one of them is better.
    assert truth(0.2, 6) == pytest.approx(truth(0.6, 6))
    assert truth(0.2, 12) > truth(0.6, 12) + 1
    flat = set(DOMAINS) - {"beta", "rho"}
    point = drawn(2)
    assert len(flat) == 6
    assert {CROSSING.truth(point | {axis: drawn(9)[axis]}) for axis in flat} == {CROSSING.truth(point)}


def test_ordered_curves_never_cross_and_crossing_ones_do():
    points = [drawn(seed) for seed in range(60)]

    def order(surface, t):
        return sorted(range(60), key=lambda n: surface.value(points[n], t))

    assert order(ORDERED, 15) == order(ORDERED, 30) == order(ORDERED, 60)
    slow, fast = placed(beta=0.8, rho=0.3), placed(beta=0.3, rho=0.3)
    assert CROSSING.value(slow, 15) < CROSSING.value(fast, 15)
    assert CROSSING.value(slow, 30) > CROSSING.value(fast, 30)
    assert CROSSING.truth(slow) == pytest.approx(80.0)
    assert CROSSING.truth(fast) == pytest.approx(65.0)


def test_noise_is_standard_normal_and_shared_within_a_seed_and_along_a_run():
    def draws(trial, t):
        return np.array([noise("crossing", trial, t, seed) for seed in range(3000)])

    end, rung, other = draws(0, 60), draws(0, 15), draws(1, 60)
    assert end.tolist() == draws(0, 60).tolist()
    assert (end.mean(), end.std()) == (pytest.approx(0.0, abs=0.07), pytest.approx(1.0, abs=0.05))
    assert np.corrcoef(end, rung)[0, 1] == pytest.approx(0.9, abs=0.03)
    assert np.corrcoef(end, other)[0, 1] == pytest.approx(0.5, abs=0.06)


@pytest.mark.parametrize(
    ("surface", "steps"), [(recorded_surface, {30}), (recorded_curves, {15, 30, 45, 60})]
)
def test_a_recorded_surface_is_what_was_measured_and_tells_a_trial_that_is_left_out(surface, steps):
    made = surface(DOMAINS)
    assert set(made.measured) == steps
    for features, values in made.measured.values():
        others = [np.delete(np.arange(len(values)), one) for one in range(len(values))]
        left_out = [
            nearest_mean(features[one], features[rest], values[rest]) for one, rest in enumerate(others)
        ]
        assert np.corrcoef(values, left_out)[0, 1] > 0.6
        again = [nearest_mean(row, features, values) for row in features]
        assert again == pytest.approx(values, abs=1e-3)


def test_between_trials_the_nearest_count_by_their_distance():
    features, values = np.array([[0.0], [1.0], [2.0], [9.0]]), np.array([0.0, 1.0, 2.0, 100.0])
    assert nearest_mean(np.array([0.5]), features, values) == pytest.approx(
        (4 * 0 + 4 * 1 + 2 / 2.25) / (8 + 1 / 2.25), rel=1e-4
    )
