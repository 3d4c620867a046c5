"""Rules on positions and on candidates, one by one."""

import math

import numpy as np
import pytest

from rse_study.evaluation.attacks.attack import Candidate
from rse_study.evaluation.attacks.attacked_text import AttackedText
from rse_study.evaluation.attacks.constraints import (
    InputColumnModification,
    MaxWordsPerturbed,
    RepeatModification,
    SentenceSimilarity,
    StopwordModification,
)
from rse_study.evaluation.attacks.lexicons import english_stopwords
from tests.cases import cases

PAIR = AttackedText.of(("The the end", "it ends"))


def candidates(attacked, position, *words):
    return [Candidate(attacked.replaced(position, word), position) for word in words]


def new_words(kept):
    return [candidate.text.word(candidate.position) for candidate in kept]


def test_positions():
    once = PAIR.replaced(2, "start")
    assert [i for i in range(5) if not RepeatModification().allows(once, i)] == [2]
    stop = StopwordModification(frozenset({"the", "it"}))
    assert [stop.allows(PAIR, position) for position in range(5)] == [True, False, True, False, True]
    sides = [InputColumnModification(sides) for sides in ("both", "first", "second")]
    both, first, second = ([rule.allows(PAIR, i) for i in range(5)] for rule in sides)
    assert both == [True] * 5
    assert first == [not one for one in second] == [True] * 3 + [False] * 2
    assert InputColumnModification("second").allows(AttackedText.of(("alone",)), 0)


@cases(("num_words", "share"), [(1, 0.4), (5, 0.4), (6, 0.4), (10, 0.05), (7, 1.0)])
def test_a_share_of_words(num_words, share):
    attacked, count = AttackedText.of((" ".join("w" * num_words),)), 0
    for position in range(num_words):
        if MaxWordsPerturbed(share).allows(attacked, position):
            attacked, count = attacked.replaced(position, "new"), count + 1
    assert count == math.ceil(share * num_words)


def first_letters(texts):
    """Embeddings [n 2] at the angle (in degrees) the text begins with."""
    angles = [math.radians(float(text.split()[0])) for text in texts]
    return np.array([[math.cos(angle), math.sin(angle)] for angle in angles])


def test_similarity_is_cosine_or_angle_with_original_or_current():
    original = AttackedText.of(("0 x",))
    current = original.replaced(0, "30")
    options = candidates(current, 0, "10", "45", "60", "85")
    cosine = SentenceSimilarity(first_letters, math.cos(math.radians(46)), "cosine", "original", None)
    assert new_words(cosine.keep(options, current, original)) == ["10", "45"]
    assert [one.similarity for one in cosine.keep(options, current, original)] == pytest.approx(
        [math.cos(math.radians(10)), math.cos(math.radians(45))]
    )
    angular = SentenceSimilarity(first_letters, 1 - 31 / 180, "angular", "current", None)
    assert new_words(angular.keep(options, current, original)) == ["10", "45", "60"]
    assert [one.similarity for one in angular.keep(options, current, original)] == pytest.approx(
        [1 - 20 / 180, 1 - 15 / 180, 1 - 30 / 180]
    )


def test_a_window_hides_the_rest_and_short_texts_pass():
    seen = []

    def embed(texts):
        seen.extend(texts)
        return np.ones((len(texts), 2))

    attacked = AttackedText.of(("other side here", "a b c d e f"))
    rule = SentenceSimilarity(embed, 0.9, "cosine", "original", 3)
    kept = rule.keep(candidates(attacked, 6, "D"), attacked, attacked)
    assert (new_words(kept), seen) == (["D"], ["c d e", "c D e"])
    seen.clear()
    rule = SentenceSimilarity(embed, 0.9, "cosine", "original", 7)
    assert [one.similarity for one in rule.keep(candidates(attacked, 6, "D"), attacked, attacked)] == [1.0]
    assert seen == []


def test_an_unchanged_text_is_encoded_once_and_alone_and_zero_is_similar_to_nothing():
    asked = []

    def embed(texts):
        asked.append(texts)
        return np.ones((len(texts), 2))

    attacked = AttackedText.of(("a b c",))
    rule = SentenceSimilarity(embed, 0.9, "cosine", "original", None)
    for position in (0, 1):
        assert len(rule.keep(candidates(attacked, position, "x"), attacked, attacked)) == 1
    assert asked == [["a b c"], ["x b c"], ["a x c"]]
    attacked = AttackedText.of(("a b",))
    rule = SentenceSimilarity(lambda texts: np.zeros((len(texts), 2)), -1.0, "cosine", "original", None)
    assert rule.keep(candidates(attacked, 0, "c"), attacked, attacked) == []


def test_nltk_has_179_stop_words(data_dir):
    words = english_stopwords(data_dir)
    assert len(words) == 179
    assert {"i", "wouldn't", "the", "not"} <= words
