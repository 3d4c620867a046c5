"""Spearman by loops; what is equal but for rounding ties, whoever computes it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rse_study.data.labelled import StsPairs
from rse_study.evaluation.sts import cosines_of, evaluate_sts, spearman
from tests.cases import cases
from tests.evaluation.test_sts import spearman as by_loops

SIZES = [3, 7, 11, 16, 25, 32, 48, 64]


def vector(sentence: str) -> np.ndarray:
    return np.random.default_rng(list(sentence.encode())).normal(size=SIZES[len(sentence) % 8])


def embed(sentences: list[str]) -> np.ndarray:
    """Random vectors, whose cosine with themselves is 1 but for the last bit of some of them."""
    return np.stack([np.resize(vector(text), 64) * (np.arange(64) < len(vector(text))) for text in sentences])


SAME = [f"sentence {'a' * i}" for i in range(40)]
OTHER = [f"another {i}" for i in range(40)]
GOLD = np.concatenate([np.linspace(4, 5, 40), np.zeros(40)])
PAIRS = StsPairs("toy", "dev", SAME + SAME, SAME + OTHER, GOLD)


def test_a_sentence_with_itself_ties_with_every_other_such_pair():
    bare = cosines_of(embed, list(zip(SAME, SAME, strict=True)))
    assert len(set(bare.tolist())) > 1  # or there is nothing to tie
    assert bare == pytest.approx(1, abs=1e-15)
    exact = [1.0] * 40 + [
        a @ b / math.sqrt(a @ a) / math.sqrt(b @ b)
        for a, b in zip(embed(PAIRS.first[40:]), embed(PAIRS.second[40:]), strict=True)
    ]
    wanted = 100 * by_loops(exact, PAIRS.gold.tolist())
    assert evaluate_sts(embed, [PAIRS])[0].value == pytest.approx(wanted, abs=1e-9)
    cosines = cosines_of(embed, list(zip(PAIRS.first, PAIRS.second, strict=True))).tolist()
    assert abs(100 * by_loops(cosines, PAIRS.gold.tolist()) - wanted) > 1e-4


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 5)), min_size=2, max_size=20))
def test_it_equals_loops_whatever_the_last_bits_say(rows):
    exact, gold = ([row[side] for row in rows] for side in (0, 1))
    noise = np.random.default_rng(len(rows)).uniform(-1e-15, 1e-15, len(rows))
    found = spearman(np.array(exact) / 10 + noise, np.array(gold, float))
    if len(set(exact)) == 1 or len(set(gold)) == 1:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(by_loops(exact, gold), abs=1e-9)


@cases("similarities", [[], [0.5], [0.5, 0.5], [0.5, math.nan], [0.5, math.inf]])
def test_what_orders_nothing_has_no_correlation(similarities):
    assert math.isnan(spearman(np.array(similarities), np.arange(float(len(similarities)))))


def test_twelve_digits_count():
    assert spearman(np.array([0.5, 0.5 + 1e-11, 0.4]), np.array([1.0, 2.0, 0.0])) == pytest.approx(1)
