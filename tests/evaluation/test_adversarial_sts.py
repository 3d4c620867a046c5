"""AdvSTS: the map to the gold scale, figures and goals."""

import functools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.isotonic import IsotonicRegression

from rse_study.evaluation import sts
from rse_study.evaluation.attacks.attack import AttackOutcome, Move
from rse_study.evaluation.attacks.engine import attack_all
from rse_study.evaluation.sts import ScoreMap, cosines_of, fit_score, targets_of, victim_of
from tests.cases import cases
from tests.evaluation.toy_pairs import cosine, embed, num_options, toy_pairs, toy_recipe

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


PAIRS = toy_pairs()
SCORE = fit_score(embed, toy_pairs(seed=1))  # fitted on no pair that is attacked
PLENTY = 10**6
GOALS = [Move(distance=way, tau=tau) for way in ("deviation", "drift") for tau in (0.5, 1.0, None)]


def scored(text: tuple[str, ...]) -> float:
    """A pair on the gold scale, by one call for it alone."""
    return float(SCORE(np.array([cosine(*text)]))[0])


def attacked(goal, sides, pairs) -> list[AttackOutcome]:
    recipe, victim = toy_recipe(goal, sides), victim_of(embed, SCORE)
    rows = attack_all(recipe, victim, targets_of(pairs, np.arange(len(pairs))), max_queries=PLENTY, seed=0)
    return sorted(rows, key=lambda row: row.index)


@functools.cache
def run(goal, sides="both") -> list[AttackOutcome]:
    """What comes of all pairs: several tests look at it."""
    return attacked(goal, sides, PAIRS)


@cases("lost", [0.0, math.nan, math.inf])
def test_a_vector_without_direction_is_like_nothing(lost):
    def half_lost(sentences):
        return np.array([[lost, lost] if text == "lost" else [1.0, 2.0] for text in sentences])

    assert cosines_of(half_lost, [("lost", "here"), ("here", "there")]) == pytest.approx([0, 1])


@pytest.mark.parametrize("goal", GOALS, ids=repr)
def test_outcomes_say_what_the_victim_says(goal):
    for row, pair in zip(run(goal), zip(PAIRS.first, PAIRS.second, PAIRS.gold, strict=True), strict=True):
        assert (*row.original, row.label) == pair
        assert row.original_scores[0] == pytest.approx(scored(row.original), abs=1e-12)
        assert row.adversarial_scores[0] == pytest.approx(scored(row.adversarial), abs=1e-12)


@pytest.mark.parametrize("distance", ["drift", "deviation"])
def test_maximise_tries_every_synonym_of_every_word(distance):
    """No early stop: the clean text, each word's [UNK], each synonym, whatever was found before."""
    rows, stopping = run(Move(distance=distance, tau=None)), run(Move(distance="drift", tau=0.5))
    for row in rows:
        num_words, num_synonyms = num_options(row.original)
        assert row.num_queries == 1 + num_words + num_synonyms
        assert row.outcome != "skipped"
        aim = row.original_scores[0] if distance == "drift" else row.label
        far, was = (abs(scores[0] - aim) for scores in (row.adversarial_scores, row.original_scores))
        assert far >= was
        assert row.outcome == ("succeeded" if far > was else "failed")
    assert sum(row.num_queries for row in stopping) < sum(row.num_queries for row in rows)
    if distance == "drift":
        scores = ([(row.adversarial_scores, row.original_scores) for row in two] for two in (rows, stopping))
        far, near = (abs(np.diff(np.array(pairs), axis=1)) for pairs in scores)
        assert (far >= near).all()


@pytest.mark.parametrize("goal", GOALS, ids=repr)
def test_figures_equal_loops(goal):
    rows = run(goal)
    found = sts.summarise_scores(iter(rows[::-1]))
    attacked = [row for row in rows if row.outcome != "skipped"]
    drift = queries = 0.0
    for row in attacked:
        drift += abs(row.adversarial_scores[0] - row.original_scores[0]) / len(attacked)
        queries += row.num_queries / len(attacked)
    assert found.mean_drift == pytest.approx(drift, abs=1e-12)
    assert found.counts.mean_queries == pytest.approx(queries)
    assert found.counts.num_inputs == len(PAIRS)
    assert found.counts.num_skipped == len(PAIRS) - len(attacked)
    # Of all pairs, the skipped ones as they are.
    now = spearmanr([scored(row.adversarial) for row in rows], PAIRS.gold).statistic
    clean = spearmanr([scored(row.original) for row in rows], PAIRS.gold).statistic
    assert (found.spearman_under_attack, found.clean_spearman) == pytest.approx((100 * now, 100 * clean))
    assert now < clean


def test_targets_are_the_pairs_at_their_places_and_cosines_of_each_alone():
    everything = targets_of(PAIRS, np.arange(30))
    pairs = zip(PAIRS.first, PAIRS.second, PAIRS.gold, strict=True)
    assert [(*target.text, target.gold) for target in everything] == [*pairs]
    assert [target.index for target in everything] == list(range(30))
    assert targets_of(PAIRS, np.array([4, 17])) == [everything[4], everything[17]]
    texts = list(zip(PAIRS.first, PAIRS.second, strict=True))
    np.testing.assert_allclose(cosines_of(embed, texts), [cosine(*text) for text in texts], atol=1e-12)
    assert cosines_of(embed, []).shape == (0,)


@given(st.integers(0, 60), st.integers(1, 70), st.integers(1, 70), st.integers(0, 99))
def test_a_sample_is_the_seeds_and_holds_every_smaller_one(num_given, one, other, seed):
    few, many = (sts.sample_of(num_given, number, seed) for number in sorted((one, other)))
    assert {*few} <= {*many} <= {*range(num_given)}
    for sample, number in zip((few, many), sorted((one, other)), strict=True):
        assert len(sample) == min(number, num_given)
        assert (np.diff(sample) > 0).all()
        assert (sample == sts.sample_of(num_given, number, seed)).all()
    assert (sts.sample_of(num_given, 0, seed) == np.arange(num_given)).all()
    assert len({tuple(sts.sample_of(30, 10, each)) for each in range(20)}) == 20
