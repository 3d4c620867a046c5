"""What words are replaced by."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rse_study.data.lexicons import SynonymList, english_stopwords
from rse_study.evaluation.attacks import AttackedText
from rse_study.evaluation.attacks.attack import Candidate
from rse_study.evaluation.attacks.transformations import (
    Blank,
    Bugs,
    CompositeTransformation,
    MaskedLMSwap,
    NeighbourSwap,
    SentenceSimilarity,
    cased_like,
    input_column_modification,
    max_words_perturbed,
    repeat_modification,
    stopword_modification,
)
from tests.cases import cases

SHAPES, KEYS = {"o": ("0", "ο"), "l": ("1",)}, {"o": ("i", "p"), "m": ("n",)}


def bugs_of(word, seed):
    return Bugs(SHAPES, KEYS).replacements(AttackedText.of((word,)), 0, np.random.default_rng(seed))


def all_bugs(word):
    """Every bug that could be drawn, by kind."""
    inner = range(1, len(word) - 1)
    return {
        "space": {f"{word[:i]} {word[i:]}" for i in inner},
        "missing": {word[:i] + word[i + 1 :] for i in inner},
        "swapped": {word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(1, len(word) - 2)}
        - {word},
        "shape": {word[:i] + o + word[i + 1 :] for i, c in enumerate(word) for o in SHAPES.get(c, ())},
        "key": {word[:i] + o + word[i + 1 :] for i, c in enumerate(word) for o in KEYS.get(c, ())},
    }


@given(st.text("olmxyz", min_size=1, max_size=9), st.integers(0, 5))
def test_one_bug_of_each_kind_that_is_possible(word, seed):
    found, kinds = bugs_of(word, seed), all_bugs(word)
    assert len(found) == len(set(found)) <= 5
    assert word not in found
    for options in kinds.values():
        assert bool(options) == bool(options & set(found))
    assert set(found) <= set().union(*kinds.values())


def test_every_bug_is_drawn_sooner_or_later():
    drawn = {bug for seed in range(300) for bug in bugs_of("mellow", seed)}
    assert drawn == set().union(*all_bugs("mellow").values())


def test_neighbours_have_the_case_of_the_word_they_replace_and_are_offered_once():
    swap = NeighbourSwap(SynonymList({"car": ["auto", "van 2", "BUS", "car"]}), 4)
    draw, words = np.random.default_rng(0), ("car", "Car", "CAR", "cAr", "bike")
    found = [swap.replacements(AttackedText.of((word,)), 0, draw) for word in words]
    assert found == [["auto", "bus"], ["Auto", "Bus"], ["AUTO", "BUS"], ["auto", "BUS", "car"], []]
    assert cased_like("I", "me") == "me"
    one = NeighbourSwap(SynonymList({"car": ["auto", "bus"]}), 1)
    assert one.replacements(AttackedText.of(("car",)), 0, draw) == ["auto"]
    first, second = (NeighbourSwap(SynonymList({"a": words}), 9) for words in (["b", "c"], ["c", "d"]))
    both, text = CompositeTransformation((first, second)), AttackedText.of(("a",))
    assert both.replacements(text, 0, np.random.default_rng(0)) == ["b", "c", "d"]


@pytest.mark.parametrize("is_masked", [True, False])
def test_a_language_model_is_asked_about_one_place(is_masked):
    asked = []

    def model(blanks):
        asked.extend(blanks)
        words, shares = ("film", ".", "movie", "movie", "b c", "show"), (0.5, 0.2, 0.1, 0.1, 0.06, 0.04)
        return [[*zip(words, shares, strict=True), ("x", 0.01)]]

    swap = MaskedLMSwap(model, 3, is_masked, 0.02)
    attacked = AttackedText.of(("other", "a good film."))
    found = swap.replacements(attacked, 3, np.random.default_rng(0))
    assert asked == [Blank(["a", "good", "film", "."], 2, is_masked)]
    assert found == ["movie", "show"]
    assert MaskedLMSwap(model, 2, is_masked).replacements(attacked, 3, np.random.default_rng(0)) == ["movie"]
    assert len(MaskedLMSwap(model, 9, is_masked).replacements(attacked, 3, np.random.default_rng(0))) == 3


PAIR = AttackedText.of(("The the end", "it ends"))


def candidates(attacked, position, *words):
    return [Candidate(attacked.replaced(position, word), position) for word in words]


def new_words(kept):
    return [candidate.text.word(candidate.position) for candidate in kept]


def test_positions():
    once = PAIR.replaced(2, "start")
    assert [i for i in range(5) if not repeat_modification(once, i)] == [2]
    stop = stopword_modification(frozenset({"the", "it"}))
    assert [stop(PAIR, position) for position in range(5)] == [True, False, True, False, True]
    sides = [input_column_modification(sides) for sides in ("both", "first", "second")]
    both, first, second = ([rule(PAIR, i) for i in range(5)] for rule in sides)
    assert both == [True] * 5
    assert first == [not one for one in second] == [True] * 3 + [False] * 2
    assert input_column_modification("second")(AttackedText.of(("alone",)), 0)


@cases(("num_words", "share"), [(1, 0.4), (5, 0.4), (6, 0.4), (10, 0.05), (7, 1.0)])
def test_a_share_of_words(num_words, share):
    attacked, count = AttackedText.of((" ".join("w" * num_words),)), 0
    for position in range(num_words):
        if max_words_perturbed(share)(attacked, position):
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
