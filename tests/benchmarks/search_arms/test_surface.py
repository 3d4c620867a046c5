"""Surfaces: their optimum is where they say, and their curves do what they say."""

import json
import random
from itertools import product

import numpy as np
import pytest

from benchmarks.search_arms.recorded import FILE, matern, recorded_surface
from benchmarks.search_arms.recorded_curves import FILE as CURVES_FILE
from benchmarks.search_arms.recorded_curves import recorded_curves, without_own_trial
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


def test_every_surface_trial_step_and_seed_has_a_standard_normal_draw_of_its_own():
    keys = list(product(["crossing", "recorded"], range(10), [15, 60], range(10)))
    draws = [noise(*key) for key in keys]
    assert draws == [noise(*key) for key in keys] and len(set(draws)) == 400
    assert np.mean(draws) == pytest.approx(0.0, abs=0.15)
    assert np.std(draws) == pytest.approx(1.0, rel=0.1)


def test_the_recorded_surface_and_curves_are_near_the_real_trials():
    surface, content = recorded_surface(DOMAINS), json.loads(FILE.read_text(encoding="utf-8"))
    errors = [surface.truth(p) - value for p, value in zip(content["points"], content["values"], strict=True)]
    assert len(errors) == 40
    assert max(map(abs, errors)) < 0.25
    assert content["leave_one_out_correlation"] > 0.8
    surface, content = recorded_curves(DOMAINS), json.loads(CURVES_FILE.read_text(encoding="utf-8"))
    errors = [surface.value(one["point"], one["t"]) - one["value"] for one in content["measured"]]
    assert {one["t"] for one in content["measured"]} == {15, 30, 45, 60}
    assert max(map(abs, errors)) < 0.1
    assert content["left_out_correlation_at_the_end"] > 0.8


def test_what_a_process_says_without_a_trial_is_what_one_fitted_without_it_says():
    rng = np.random.default_rng(0)
    features, values, trials = rng.random((7, 3)), rng.random(7), [0, 0, 1, 1, 1, 2, 3]
    covariance = matern(features, features, np.ones(3)) + 0.1 * np.eye(7)
    inverse = np.linalg.inv(covariance)
    found = without_own_trial(inverse, inverse @ values, values, trials)
    others = [0, 1, 5, 6]
    weights = np.linalg.solve(covariance[np.ix_(others, others)], values[others])
    assert found[2:5] == pytest.approx(covariance[2:5][:, others] @ weights)
