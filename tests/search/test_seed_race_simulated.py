"""What a race loses and saves, in searches whose truth is known; the whole table: `tests.search.simulated_race`."""

import random

import pytest

from tests.search.simulated_race import raced_search, simulate


@pytest.mark.parametrize(("num_seeds", "noise"), [(2, 0.5), (3, 0.25), (3, 1.0)])
def test_the_best_trial_is_seldom_raced_out(num_seeds, noise):
    """At most one case of twenty a seed, by the rule's level; far less of random heights: few come near the best."""
    assert simulate(num_seeds=num_seeds, noise=noise).raced_out <= 0.05 * (num_seeds - 1)


def test_a_third_of_the_cells_finds_what_all_find():
    """Where seeds hide half of what trials differ by."""
    found = simulate(num_seeds=3, noise=0.5)
    assert found.num_cells < 0.7 * 48
    assert found.raced == pytest.approx(found.all_seeds, abs=0.01)
    assert found.raced < 0.6 * found.one_seed


def test_a_trial_as_good_as_the_incumbent_leaves_in_few_cases():
    """All trials alike: whoever leaves does so by chance. The incumbent is a lucky one: more than one in twenty."""
    draw = random.Random(0)
    ran = [raced_search([0.0] * 8, 1.0, 2, draw)[1] for _ in range(200)]
    third = [numbers[2] for numbers in ran]
    assert third.count(1) / len(third) < 0.15


def test_more_noise_saves_less():
    saved = [48 - simulate(noise=noise, num_searches=50).num_cells for noise in (0.1, 0.5, 2.0)]
    assert saved == sorted(saved, reverse=True) and saved[0] > 18
