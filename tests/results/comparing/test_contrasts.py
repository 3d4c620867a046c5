"""Effects of factorial designs against a regression on the whole design, and what a missing cell does to them."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from rse_study.results.comparing.comparisons import Scores, compare, differences
from rse_study.results.comparing.contrasts import MOST_ROWS, letters_of, read_effects
from rse_study.results.comparing.criterion import Criterion, row_verdict
from rse_study.results.comparing.factors import describe_design, effects_among
from rse_study.results.files.ledger import Ledger
from rse_study.results.reader import Reader
from rse_study.results.statistics import holm, sign_flip_p
from rse_study.study.definition.rows import corners
from tests.analysis import tabled

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
