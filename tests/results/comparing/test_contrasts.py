"""Effects of factorial designs against a regression on the whole design, and what a missing cell does to them."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from rse_study.results.comparing.comparisons import Scores, compare, differences
from rse_study.results.comparing.contrasts import MOST_ROWS, letters_of, read_effects
from rse_study.results.comparing.criterion import Criterion, row_verdict
from rse_study.results.comparing.factors import describe_design, effects_among
from rse_study.results.comparing.item_contrasts import crossed_interval, resampled_values
from rse_study.results.files.ledger import Ledger
from rse_study.results.item_scores import ItemScores
from rse_study.results.reader import Reader
from rse_study.results.statistics import Interval, holm, sign_flip_p, t_interval
from rse_study.study.definition.rows import corners
from tests.analysis import tabled
from tests.cases import cases

NAMES = "ABCDEF"


def rows_of(k, resolution):
    return {str(number): levels for number, levels in enumerate(corners(k, resolution))}


def truth_of(k, num_seeds, seed=0):
    """Scores of all corners: an effect of its own for every product of factors, and noise."""
    draws = np.random.default_rng(seed)
    terms = [term for size in range(1, k + 1) for term in combinations(range(k), size)]
    effects = {term: draws.normal() if len(term) <= 2 else 0.0 for term in terms}
    scores = {}
    for corner in corners(k, "full"):
        signs = 2 * np.array(corner) - 1
        mean = 70 + sum(effect / 2 * signs[list(term)].prod() for term, effect in effects.items())
        scores[corner] = mean + draws.normal(scale=0.5, size=num_seeds)
    return {"".join(NAMES[n] for n in term): effect for term, effect in effects.items()}, scores


def test_effects_of_a_full_design_are_twice_the_coefficients_of_the_saturated_regression():
    rows, (_, scores) = rows_of(4, "full"), truth_of(4, 5)
    table = pd.DataFrame({name: scores[levels] for name, levels in rows.items()}).T
    signs = 2 * np.array(list(rows.values())) - 1
    terms = [term for size in range(5) for term in combinations(range(4), size)]
    design = np.array([[row[list(term)].prod() for term in terms] for row in signs])
    coefficients = dict(zip(terms, np.linalg.solve(design, table.to_numpy()), strict=True))
    effects = effects_among(rows, NAMES[:4])
    assert len(effects) == 4 + 6
    for effect in effects:
        (term,) = effect.terms
        expected = 2 * coefficients[tuple(NAMES.index(name) for name in term)]
        assert differences(table, effect.weights) == pytest.approx(expected)


@pytest.mark.parametrize(("k", "resolution"), [(3, 3), (4, 4), (5, 3), (5, 5), (6, 4), (6, 5)])
def test_a_fraction_estimates_the_sums_of_aliases_that_it_names(k, resolution):
    rows, (effects, scores) = rows_of(k, resolution), truth_of(k, 1)
    quiet = dict.fromkeys(scores, 0.0)
    for name, effect in effects.items():
        for corner in quiet:
            signs = [2 * corner[NAMES.index(one)] - 1 for one in name]
            quiet[corner] += effect / 2 * np.prod(signs)
    table = pd.DataFrame({name: [quiet[levels]] for name, levels in rows.items()}).T
    found = effects_among(rows, NAMES[:k])
    for one in found:
        expected = sum(effects["".join(term)] for term in one.terms)
        assert differences(table, one.weights) == pytest.approx([expected])
    assert sum(len(one.terms) for one in found) == k + k * (k - 1) // 2
    num_mains_alone = sum(len(one.terms) == 1 for one in found[:k])
    assert (num_mains_alone == k) == (resolution > 3)
    assert any(one.aliases for one in found) == (resolution < 5)


def test_a_design_says_what_is_one_sum():
    assert describe_design(effects_among(rows_of(4, 4), NAMES[:4]), 4) == (
        "design 2^(4-1): 7 contrasts, of which 3 are sums: A x B + C x D; A x C + B x D; A x D + B x C"
    )
    full = describe_design(effects_among(rows_of(3, "full"), NAMES[:3]), 3)
    assert full == "design 2^3: every main effect and pair has a contrast of its own"


SCORES = {
    "rho = 0, N = 1": (60.0, 61.0, 62.0, 59.0),
    "rho = 0, N = 5": (60.5, 61.0, 63.0, 59.5),
    "rho = 0.5, N = 1": (61.0, 62.5, 62.5, 60.0),
    "rho = 0.5, N = 5": (64.0, 64.5, 66.0, 63.5),
    "SimCSE": (60.0, 60.0, 60.0, 60.0),
}


def read(folder):
    with Reader(folder) as reader:
        found = read_effects(reader)
        return found, found.frame


def test_effects_are_compared_seed_by_seed_and_adjusted_for_each_other(tmp_path):
    found, frame = read(tabled.make(tmp_path, SCORES, factorial=True))
    low, high, other, both = (np.array(SCORES[row]) for row in list(SCORES)[:4])
    samples = [
        (other + both - low - high) / 2,
        (high + both - low - other) / 2,
        (low + both - high - other) / 2,
    ]
    assert [effect.name for effect in found.effects] == ["rho", "N", "rho x N"]
    assert found.compared["mean"].tolist() == pytest.approx([sample.mean() for sample in samples])
    adjusted = holm([sign_flip_p(sample) for sample in samples]).tolist()
    assert found.compared["p_holm"].tolist() == pytest.approx(adjusted)
    (alone,) = compare(pd.DataFrame([samples[0]], index=["x"]), [{"x": 1.0}])
    first = found.compared.iloc[0]
    assert (first["t_low"], first["t_high"]) == (alone.interval.low, alone.interval.high)
    assert first["simultaneous_low"] < alone.simultaneous.low
    assert frame["num_seeds"].tolist() == [4] * 6  # the objective, and STS-B/test


def test_a_missing_cell_takes_its_seed_out_of_every_effect_and_biases_none(tmp_path):
    lacking = SCORES | {"rho = 0.5, N = 5": (64.0, tabled.FAILED, 66.0, 63.5)}
    found, _ = read(tabled.make(tmp_path / "one", lacking, factorial=True))
    kept = {row: (scores[0], *scores[2:]) for row, scores in SCORES.items()}
    whole, _ = read(tabled.make(tmp_path / "whole", kept, factorial=True))
    assert (found.num_dropped, whole.num_dropped) == (1, 0)
    assert found.compared["mean"].tolist() == whole.compared["mean"].tolist()
    lacking = SCORES | {"rho = 0.5, N = 5": (64.0, tabled.FAILED, 66.0, tabled.PLANNED)}
    found, frame = read(tabled.make(tmp_path / "two", lacking, factorial=True))
    assert found.compared.empty
    assert frame["num_seeds"].tolist() == [2] * 6
    rows = {row: scores for row, scores in SCORES.items() if row != "rho = 0.5, N = 5"}
    begun = tabled.make(tmp_path / "begun", rows, factorial=True)
    with_all = tabled.study_of(SCORES, 4, factorial=True)
    with Ledger.open(begun) as ledger:
        ledger.freeze(with_all, "rows added: 1")
    found, frame = read(begun)
    assert found.effects == ()
    assert frame.empty


def test_a_grid_that_crosses_its_axes_has_no_effects(tmp_path):
    found, frame = read(tabled.make(tmp_path, SCORES))
    assert (found.factors, found.effects) == ({}, ())
    assert frame.empty


NOISE = np.array([0.05, -0.04, 0.02, -0.03, 0.04, -0.05, 0.01, 0.0])


def scores(means, spread=1.0, **settings):
    """Rows whose differences from each other have some spread."""
    rng = np.random.default_rng(0)
    rows = {name: mean + spread * rng.permutation(NOISE) for name, mean in means.items()}
    return Scores(pd.DataFrame.from_dict(rows, orient="index"), **settings)


def test_rows_that_differ_have_no_letter_in_common_and_the_best_has_the_first():
    found = letters_of(scores({"low": 50.0, "high": 60.0, "like high": 60.0}))
    assert found == {"high": "a", "like high": "a", "low": "b"}
    turned = letters_of(scores({"low": 50.0, "high": 60.0, "like high": 60.0}, less_is_better=True))
    assert turned == {"low": "a", "high": "b", "like high": "b"}


def test_differences_within_the_margin_do_not_part_rows():
    means = {"one": 60.0, "two": 60.4, "three": 60.8}
    assert letters_of(scores(means)) == {"three": "a", "two": "b", "one": "c"}
    within = letters_of(scores(means, criterion=Criterion(margin=0.5)))
    assert within == {"three": "a", "two": "ab", "one": "b"}


def test_rows_share_a_letter_exactly_where_their_pair_is_not_decided():
    rng = np.random.default_rng(1)
    for _ in range(20):
        table = pd.DataFrame(
            rng.normal(rng.uniform(0, 3, size=(7, 1)), 1.0, size=(7, 6)), index=list("abcdefg")
        )
        found, criterion = letters_of(Scores(table)), Criterion()
        for one, other in combinations(table.index, 2):
            interval = criterion.interval(table.loc[one] - table.loc[other], 21)
            is_apart = row_verdict(interval, 0.0, less_is_better=False) in ("better", "worse")
            assert (not set(found[one]) & set(found[other])) == is_apart


def test_rows_without_seeds_enough_are_in_every_group_they_may_be_in():
    few = scores({"low": 50.0, "high": 60.0, "few": 70.0})
    few.table.loc["few", 2:] = np.nan
    assert letters_of(few) == {"few": "ab", "high": "a", "low": "b"}
    few.table.loc["few"] = np.nan
    assert letters_of(few) == {"high": "a", "low": "b"}


def test_one_row_or_very_many_have_no_letters():
    assert letters_of(scores({"one": 50.0})) == {}
    assert letters_of(scores({str(number): float(number) for number in range(MOST_ROWS + 1)})) == {}


def test_a_row_without_a_score_at_some_seeds_is_told_apart_from_none():
    means = {"low": 50.0, "high": 60.0, "like high": 60.0}
    lost = scores(means, criterion=Criterion(lost={"low": frozenset({0})}))
    assert letters_of(lost) == {"high": "a", "like high": "a", "low": "a"}
    waiting = scores(means, criterion=Criterion(waiting=frozenset({"low"})))
    waiting.table.loc["low", 4:] = np.nan  # four seeds, with which a confidence sequence excludes nothing
    assert letters_of(waiting) == {"high": "a", "like high": "a", "low": "a"}


# Resamples without sorting equal plain ones, and the variance is that of a literal pigeonhole bootstrap.


def scored_cells(num: int, n: int, decimals: int, with_gold: bool = True) -> list[ItemScores]:
    """Scores that follow gold, rounded so that some are tied."""
    rng = np.random.default_rng(3)
    gold, shared = rng.integers(0, 6, n).astype(float), rng.normal(size=n)
    rows = [np.round(gold + shared + rng.normal(size=n), decimals) for _ in range(num)]
    return [ItemScores.of(row, gold if with_gold else None) for row in rows]


@pytest.mark.parametrize("decimals", [0, 1, 6])
def test_spearman_of_a_resample_equals_scipys_ties_or_not(decimals):
    given = scored_cells(3, 40, decimals)
    found, rng = resampled_values(given, 7), np.random.default_rng(0)
    for row in found:
        drawn = rng.integers(0, 40, 40)
        expected = [100 * spearmanr(one.scores[drawn], one.gold[drawn]).statistic for one in given]
        assert row == pytest.approx(expected, abs=1e-9)


def test_more_pairs_than_a_field_of_16_bits_counts_are_resampled_too():
    given = scored_cells(1, 40_000, 3)
    drawn = np.random.default_rng(0).integers(0, 40_000, 40_000)
    expected = 100 * spearmanr(given[0].scores[drawn], given[0].gold[drawn]).statistic
    assert resampled_values(given, 1)[0, 0] == pytest.approx(expected, abs=1e-9)


def test_a_mean_leaves_out_items_without_a_score_and_parts_weigh_the_same():
    scores, parts = np.array([100.0, np.nan, 0.0, 100.0, 100.0, 0.0]), np.array([0, 0, 0, 1, 1, 1])
    found, rng = resampled_values([ItemScores.of(scores, parts=parts)], 4), np.random.default_rng(0)
    draws = [[rng.integers(0, 3, 3) for _ in range(4)] for _ in range(2)]
    for row, first, second in zip(found, *draws, strict=True):
        expected = (np.nanmean(scores[:3][first]) + scores[3:][second].mean()) / 2
        assert row[0] == pytest.approx(expected)


def test_the_variance_is_that_of_drawing_seeds_and_items_one_by_one():
    given = scored_cells(5, 30, 6)
    by_seed = np.array([spearmanr(one.scores, one.gold).statistic * 100 for one in given])
    resampled = resampled_values(given, 4000)
    rng, means = np.random.default_rng(1), []
    for _ in range(4000):
        items, seeds = rng.integers(0, 30, 30), rng.integers(0, 5, 5)
        each = [spearmanr(one.scores[items], one.gold[items]).statistic * 100 for one in given]
        means.append(np.mean([each[seed] for seed in seeds]))
    of_items = np.var(means, ddof=1) - by_seed.var() / 5
    interval, seeds_alone = crossed_interval(by_seed, t_interval(by_seed), resampled, 30), t_interval(by_seed)
    half, alone = (interval.high - interval.low) / 2, (seeds_alone.high - seeds_alone.low) / 2
    assert half == pytest.approx(np.hypot(alone, 2.045 * np.sqrt(of_items)), rel=0.05)
    assert half > alone


def test_where_all_items_move_alike_only_seeds_count():
    by_seed = np.array([1.0, 2.0, 4.0])
    same = np.tile(by_seed, (50, 1))
    assert crossed_interval(by_seed, t_interval(by_seed), same, 100).high == pytest.approx(
        t_interval(by_seed).high
    )


@cases(
    ("by_seed", "resampled", "of_items"),
    [
        # Both resamples move all seeds by 2: the items' variance is that of (0, 2), and the seeds add nothing.
        ([1.0, 3.0], [[1.0, 3.0], [3.0, 5.0]], 2.0),
        ([0.0, 0.0, 6.0], [[0.0, 0.0, 6.0], [2.0, 2.0, 8.0]], 2.0),
        # Each seed answers to other items: 0 and 4 on average over seeds 2 and 2, within a resample 4 and 4.
        ([1.0, 3.0], [[0.0, 4.0], [4.0, 0.0]], 4.0 / 2 - 1.0 / 2),
    ],
)
def test_the_share_of_the_items_is_known_where_it_can_be_computed_by_hand(by_seed, resampled, of_items):
    """The variances over seeds divide by n, as a bootstrap's do, the one over resamples by n - 1."""
    over_seeds, mean = Interval(-1.0 + np.mean(by_seed), 1.0 + np.mean(by_seed)), np.mean(by_seed)
    found = crossed_interval(np.array(by_seed), over_seeds, np.array(resampled), 11, level=0.95)
    half = np.hypot(1.0, 2.228139 * np.sqrt(of_items))  # Student's t with 10 degrees of freedom
    assert (found.low, found.high) == pytest.approx((mean - half, mean + half), abs=1e-6)
