"""How long a trial trains, in epochs, steps, or the same computation for every method."""

import pytest

from rse_study.study.definition.reading import build
from rse_study.training.trial import Trial


@pytest.mark.parametrize(
    ("method", "num_steps"),
    [
        ({"preset": "simcse"}, 30),  # 12 P*T, six passes, a step
        ({"blend": {"pgd": {"num_steps": 16}, "fgsm": {"num_steps": 16}}}, 4),  # 92 P*T
        ({"blend": {"pgd": {"num_steps": 10_000}, "fgsm": {"num_steps": 10_000}}}, 1),
    ],
)
def test_a_budget_of_passes_gives_every_method_the_same_computation(method, num_steps):
    trial = build(Trial, {"method": method, "budget": {"unit": "passes", "amount": 180}}, where="trial")
    assert trial.num_steps(0) == num_steps
