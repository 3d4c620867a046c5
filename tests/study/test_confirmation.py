import math

import pytest

from rse_study.study.confirmation import TrialResult, best_trials

STANDINGS = [
    TrialResult(0, 60, 57.0, is_baseline=True),
    TrialResult(1, 60, 55.0),
    TrialResult(2, 15, 90.0),
    TrialResult(3, 60, 56.0),
    TrialResult(4, 30, 91.0),
    TrialResult(5, 60, math.nan),
    TrialResult(6, 60, 56.0),
]


@pytest.mark.parametrize(
    ("num_best", "direction", "expected"),
    [
        (1, "maximize", [3]),
        (2, "maximize", [3, 6]),
        (4, "maximize", [3, 6, 1, 4]),
        (9, "maximize", [3, 6, 1, 4, 2]),
        (1, "minimize", [1]),
    ],
)
def test_full_budgets_come_first_then_values(num_best, direction, expected):
    assert best_trials(STANDINGS, num_best, direction) == expected


def test_the_baseline_is_confirmed_anyway_and_takes_no_place():
    assert best_trials(STANDINGS[:1], 1, "maximize") == []
