import math
from dataclasses import replace

import numpy as np
import pytest

from rse_study.data.labelled import StsPairs
from rse_study.evaluation.sts import SEVEN, Similarity, average, evaluate_sts, score_pairs
from tests.cases import cases
from tests.evaluation.contract import all_one


def ranks(values):
    """Ranks from 1, ties share their mean rank."""
    return [sum(v < x for v in values) + (sum(v == x for v in values) + 1) / 2 for x in values]


def spearman(x, y):
    """Pearson's correlation of the ranks, by loops."""
    a, b = ranks(x), ranks(y)
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    covariance = sum((p - mean_a) * (q - mean_b) for p, q in zip(a, b, strict=True))
    spread = math.sqrt(sum((p - mean_a) ** 2 for p in a) * sum((q - mean_b) ** 2 for q in b))
    return covariance / spread


@pytest.fixture
def pairs() -> StsPairs:
    rng = np.random.default_rng(0)
    texts = [f"text {i % 23}" for i in range(60)]
    subsets = {"small": slice(0, 8), "large": slice(8, 30)}
    return StsPairs("toy", "test", texts[:30], texts[30:], rng.integers(0, 6, 30).astype(float), subsets)


def embed(sentences: list[str]) -> np.ndarray:
    return np.stack([np.random.default_rng(len(s) * 100 + ord(s[-1])).normal(size=5) for s in sentences])


def test_aggregations_equal_loops(pairs):
    first, second = embed(pairs.first), embed(pairs.second)
    cosines = [a @ b / math.sqrt(a @ a) / math.sqrt(b @ b) for a, b in zip(first, second, strict=True)]
    cosines = [round(c, 12) for c in cosines]
    small, large = (spearman(cosines[p], pairs.gold[p].tolist()) for p in (slice(0, 8), slice(8, 30)))
    expected = {"all": spearman(cosines, pairs.gold.tolist())}
    expected |= {"mean": (small + large) / 2, "wmean": (8 * small + 22 * large) / 30}
    for row in evaluate_sts(lambda s: np.round(embed(s), 15), [pairs]):
        assert row.value == pytest.approx(100 * expected[row.aggregation], abs=1e-9)
        assert (row.task, row.split, row.num_examples, row.degenerate) == ("toy", "test", 30, False)
        assert row.fingerprint == pairs.fingerprint


@cases(
    "collapsed",
    [
        all_one,
        lambda s: 0 * all_one(s),
        lambda s: np.nan * all_one(s),
        lambda s: np.where(np.arange(len(s))[:, None] == 3, np.inf, embed(s)),
        lambda s: (1 + 1e-7 * embed(s)).astype(np.float32),
        lambda s: np.abs(embed(s)[:, :1]) + 1,  # one direction, other lengths
    ],
)
def test_collapsed_embeddings_count_as_zero(pairs, collapsed):
    for row in evaluate_sts(collapsed, [pairs]):
        assert (row.value, row.degenerate) == (0, True) or row.degenerate
        assert math.isfinite(row.value)


def test_one_bad_subset_leaves_the_other_its_worth(pairs):
    similarities = np.arange(30.0)
    similarities[:8] = np.nan
    rows = {row.aggregation: row for row in score_pairs(pairs, similarities)}
    large = 100 * spearman(list(range(22)), pairs.gold[8:].tolist())
    assert all(row.degenerate for row in rows.values())
    assert rows["all"].value == 0
    assert rows["mean"].value == pytest.approx(large / 2)
    assert rows["wmean"].value == pytest.approx(large * 22 / 30)


def test_average_is_over_the_seven_and_nothing_less(pairs):
    rows = []
    for number, task in enumerate(SEVEN):
        rows += score_pairs(replace(pairs, name=task, subsets={}), np.roll(np.arange(30.0), number))
    expected = sum(row.value for row in rows if row.aggregation == "all") / 7
    assert average(rows, "all") == pytest.approx(expected)
    with pytest.raises(KeyError):
        average(rows[3:], "all")


def test_token_overlap_counts_words_without_case():
    first, second = ["A cat sat", "a b", "", "the the dog"], ["a CAT sat!", "c d", "x", "the dog"]
    pairs = StsPairs("toy", "dev", first, second, np.array([5.0, 1.0, 0.0, 4.0]))
    wanted = 100 * spearman([1, 0, 0, 0.9], [5, 1, 0, 4])
    assert Similarity(pairs).score_overlap("me")[0].value == pytest.approx(wanted)
