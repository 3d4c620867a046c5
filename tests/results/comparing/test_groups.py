"""Letters of rows that cannot be told apart, against the pairs they stand for."""

from itertools import combinations

import numpy as np
import pandas as pd

from rse_study.results.comparing.comparisons import Scores
from rse_study.results.comparing.contrasts import MOST_ROWS, letters_of
from rse_study.results.comparing.criterion import Criterion, row_verdict

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
