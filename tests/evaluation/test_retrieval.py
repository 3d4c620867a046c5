"""Retrieval equals a loop over queries and candidates."""

import math

import numpy as np
import pytest

from rse_study.data.pairs import StsPairs
from rse_study.evaluation.registry import read_evaluation
from rse_study.evaluation.retrieval import Retrieval
from tests.evaluation.contract import by_letters, check_items, check_registered, rows_of

FIRST = ["a cat", "the dog runs", "no", "zebras"]
SECOND = ["a cat sat", "dogs run there", "never", "the zebra"]
PAIRS = StsPairs("toy", "test", FIRST, SECOND, np.array([5.0, 4.0, 3.9, 4.5]))


def cosine(a, b) -> float:
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    return dot / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))


def test_it_is_the_mean_place_of_paraphrases_among_all_second_sentences():
    first, second = by_letters(FIRST), by_letters(SECOND)
    ranks = []
    for i in (0, 1, 3):
        cosines = [cosine(first[i], second[j]) for j in range(4)]
        ranks.append(1 + sum(other > cosines[i] for other in cosines))
    rows = rows_of(Retrieval(PAIRS), by_letters)
    assert rows["rank"].value == pytest.approx(sum(ranks) / 3)
    assert rows["mrr"].value == pytest.approx(100 * sum(1 / rank for rank in ranks) / 3)
    assert rows["rank"].num_examples == 3


def test_the_rank_is_in_places_with_a_margin_of_its_own_and_less_is_better():
    rank, mrr = Retrieval(PAIRS).measures
    assert (rank.unit, rank.margin, rank.direction) == ("places", 1.0, "minimize")
    assert (mrr.unit, mrr.margin, mrr.direction) == ("points", None, "maximize")


def test_it_keeps_the_contract(tmp_path):
    evaluation = read_evaluation("builtin/retrieval", tmp_path)
    check_registered(evaluation)
    check_items(rows_of(evaluation, by_letters).values())
