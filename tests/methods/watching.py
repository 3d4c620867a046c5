"""What a step does inside, for a test to look at."""

from typing import Any

import pytest

from rse_study.methods import adversary
from rse_study.perturbations.ascent import Ascent


def watch_ascents(monkeypatch: pytest.MonkeyPatch) -> list[Ascent]:
    """Every ascent of a step from now on, as `adversary` receives it."""
    seen, ascend = [], adversary.ascend

    def watched(*arguments: Any, **named: Any) -> Ascent:
        seen.append(ascend(*arguments, **named))
        return seen[-1]

    monkeypatch.setattr(adversary, "ascend", watched)
    return seen


def mean_of(mean: Any) -> float:
    """A metric of a step."""
    return float(mean.total) / float(mean.count)
