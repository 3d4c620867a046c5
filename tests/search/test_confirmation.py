import math

from rse_study.search.choice import TrialResult, trials_to_confirm
from tests.cases import cases

# Step and value of each trial's end; trial 0 is the baseline.
ENDS = ((60, 57.0), (60, 55.0), (15, 90.0), (60, 56.0), (30, 91.0), (60, math.nan), (60, 56.0))
STANDINGS = [TrialResult(number, t, (value,)) for number, (t, value) in enumerate(ENDS)]


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
    values = ((9.0, 9.0), (8.0, 1.0), (6.0, 6.0), (1.0, 8.0))
    standings = [TrialResult(number, 60, value) for number, value in enumerate(values)]
    assert trials_to_confirm(standings, [0], 1, ["maximize", "maximize"]) == [2]
    assert trials_to_confirm(standings, [], 1, ["maximize", "maximize"]) == [0]
    assert trials_to_confirm(STANDINGS[:1], [0], 1, ["maximize"]) == []
