"""Cosines to the gold scale: least squares, and what a map may never do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from rse_study.evaluation.score_map import ScoreMap
from tests.cases import cases

NEAR = np.linspace(-1.0, 1.0, 41)


def some_pairs(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Cosines, and gold that follows them with noise, within 0..5."""
    draw = np.random.default_rng(seed)
    cosines = draw.uniform(0.1, 0.9, 50)
    return cosines, np.clip(6 * cosines - 0.5 + draw.normal(0, 0.5, 50), 0, 5)


@cases("seed", range(4))
def test_affine_is_least_squares_clipped_to_the_golds_range(seed):
    cosines, gold = some_pairs(seed)
    slope, start = np.linalg.lstsq(np.stack([cosines, np.ones(50)], 1), gold, rcond=None)[0]
    wanted = np.clip(slope * NEAR + start, gold.min(), gold.max())
    assert wanted.min() == gold.min() and wanted.max() == gold.max()  # both ends are cut off here
    np.testing.assert_allclose(ScoreMap.fitted(cosines, gold)(NEAR), wanted, atol=1e-12)


@cases("seed", range(4))
def test_isotonic_is_scikit_learns(seed):
    cosines, gold = some_pairs(seed)
    cosines[:10] = cosines[10:20]  # pairs of one cosine and two gold scores
    wanted = IsotonicRegression(out_of_bounds="clip").fit(cosines, gold).predict(NEAR)
    np.testing.assert_allclose(ScoreMap.fitted(cosines, gold, "isotonic")(NEAR), wanted, atol=1e-12)


@pytest.mark.parametrize("kind", ["affine", "isotonic"])
@given(st.lists(st.tuples(st.integers(-20, 20), st.integers(0, 10)), min_size=1, max_size=30))
def test_scores_never_fall_and_stay_on_the_scale(kind, drawn):
    cosines, gold = np.array(drawn, np.float64).T / [[20], [2]]
    scores = ScoreMap.fitted(cosines, gold, kind)(NEAR)
    assert (np.diff(scores) >= -1e-12).all()
    assert gold.min() - 1e-12 <= scores.min() and scores.max() <= gold.max() + 1e-12


@cases("kind", ["affine", "isotonic"])
@cases("slope", [-3.0, 0.0], ids=["falling", "all alike"])
def test_a_guide_that_misleads_says_the_mean(kind, slope):
    cosines, gold = np.linspace(0, 1, 11) * bool(slope), 4.0 + slope * np.linspace(0, 1, 11)
    np.testing.assert_allclose(ScoreMap.fitted(cosines, gold, kind)(NEAR), gold.mean(), atol=1e-12)


@pytest.mark.parametrize("kind", ["affine", "isotonic"])
@given(st.floats(-1, 1), st.lists(st.floats(0, 5), min_size=2, max_size=60))
def test_equal_cosines_give_a_flat_map_whatever_rounding_says(kind, cosine, gold):
    fitted = ScoreMap.fitted(np.full(len(gold), cosine), np.array(gold), kind)
    assert np.ptp(fitted(NEAR)) == 0
