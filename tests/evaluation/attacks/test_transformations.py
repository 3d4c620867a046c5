"""What words are replaced by."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rse_study.evaluation.attacks.attacked_text import AttackedText
from rse_study.evaluation.attacks.lexicons import SynonymList
from rse_study.evaluation.attacks.transformations import (
    Blank,
    Bugs,
    CompositeTransformation,
    MaskedLMSwap,
    NeighbourSwap,
    cased_like,
)

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
