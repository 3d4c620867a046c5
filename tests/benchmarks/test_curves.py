"""Differences at equal compute, from scores that are known."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import curves
from benchmarks.crossed import Units
from rse_study.results.comparing.criterion import Criterion

SEEDS = [32, 33, 34, 35, 36, 37]


@pytest.fixture
def units():
    """Six seeds; noise is a point below delta, delta two above SimCSE, that three below its other rate.

    RobustSentEmbed is five above SimCSE, and with more steps of ascent four.
    """
    rng = np.random.default_rng(0)
    simcse = 80 + rng.normal(size=len(SEEDS))
    rows = {"SimCSE, 360": simcse - 1, "ConSERT, 360": simcse}
    rows |= {"SimCSE, 1440": simcse, "delta, 1440": simcse + 2, "noise, 1440": simcse + 1}
    rows[f"{curves.OTHER_RATE}, 1440"] = simcse + 3
    rows |= {"RobustSentEmbed, 1440": simcse + 5, f"{curves.MORE_STEPS}, 1440": simcse + 4}
    table = pd.DataFrame.from_dict(rows, orient="index", columns=SEEDS)
    drawn = {(row, seed): table.at[row, seed] + rng.normal(size=50) for row in table.index for seed in SEEDS}
    return {curves.AVERAGE: Units(table, drawn, 1000, Criterion())}


def test_methods_are_compared_with_simcse_at_equal_passes_and_delta_with_noise(units):
    found = curves.curves_of(units)
    assert found[["passes", "method", "minus"]].to_numpy().tolist() == [
        [360, "ConSERT", "SimCSE"],
        [1440, "delta", "SimCSE"],
        [1440, "RobustSentEmbed", "SimCSE"],
        [1440, "SimCSE", curves.OTHER_RATE],
        [1440, "delta", curves.OTHER_RATE],
        [1440, "RobustSentEmbed", curves.OTHER_RATE],
        [1440, "delta", "noise"],
        [1440, curves.MORE_STEPS, "SimCSE"],
        [1440, curves.MORE_STEPS, "RobustSentEmbed"],
    ]
    assert found["difference"].tolist() == pytest.approx([1, 2, 5, -3, -1, 2, 1, 4, -1])
    assert (found["crossed_low"] < found["low"]).all()
