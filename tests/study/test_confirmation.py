import math

from rse_study.results.selection import TrialResult
from rse_study.study.confirmation import trials_to_confirm
from tests.cases import cases

STANDINGS = [
    TrialResult(0, 60, (57.0,)),  # the baseline
    TrialResult(1, 60, (55.0,)),
    TrialResult(2, 15, (90.0,)),
    TrialResult(3, 60, (56.0,)),
    TrialResult(4, 30, (91.0,)),
    TrialResult(5, 60, (math.nan,)),
    TrialResult(6, 60, (56.0,)),
]


@cases(
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
    assert trials_to_confirm(STANDINGS, [0], num_best, [direction]) == expected


def test_of_several_objectives_the_knee_comes_first_and_the_baseline_takes_no_place():
    standings = [
        TrialResult(0, 60, (9.0, 9.0)),
        TrialResult(1, 60, (8.0, 1.0)),
        TrialResult(2, 60, (6.0, 6.0)),
        TrialResult(3, 60, (1.0, 8.0)),
    ]
    assert trials_to_confirm(standings, [0], 1, ["maximize", "maximize"]) == [2]
    assert trials_to_confirm(standings, [], 1, ["maximize", "maximize"]) == [0]
    assert trials_to_confirm(STANDINGS[:1], [0], 1, ["maximize"]) == []
