"""Orders and choices that can be told by hand."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from rse_study.data.labelled import Labelled
from rse_study.evaluation.attacks.attack import UNTARGETED, Attack
from rse_study.evaluation.attacks.attack_recipe import UNKNOWN, LeaveOneOut
from rse_study.evaluation.attacks.engine import attack_all
from tests.cases import cases
from tests.evaluation.attacks.bag_of_words import BagOfWords
from tests.evaluation.attacks.conftest import Lexicon

SYNONYMS = {"one": ("uno",), "two": ("due",), "three": ("tre",)}
WEIGHTS = {"one": 1.0, "two": 3.0, "three": 2.0, "uno": 0.9, "due": 2.9, "tre": 1.9}


def run(attack, victim, text):
    examples = Labelled("toy", "test", [(text,)], np.array([1]), ("no", "yes"))
    (row,) = attack_all(attack, victim, examples, max_queries=1000, seed=0)
    return row


def visits(victim, text):
    """Texts asked after the ranking, in order."""
    asked = [each for call in victim.calls for (each,) in call]
    return [each for each in asked if any(new in each for new in ("uno", "due", "tre"))]


@cases(
    ("ranking", "unknown"),
    [(LeaveOneOut(token=UNKNOWN), -5.0), (LeaveOneOut(token="?"), 0.0), (LeaveOneOut(), 0.0)],
)
def test_the_heaviest_word_is_visited_first(ranking, unknown):
    victim = BagOfWords(WEIGHTS | {"[UNK]": unknown})
    row = run(Attack("toy", UNTARGETED, Lexicon(SYNONYMS), ranking), victim, "one two three")
    assert visits(victim, "one two three") == ["one due three", "one due tre", "uno due tre"]
    assert (row.outcome, row.num_queries, row.changed) == ("failed", 1 + 3 + 3, (0, 1, 2))


def test_words_of_equal_weight_are_visited_from_left_to_right_and_no_gain_is_not_taken():
    victim = BagOfWords(dict.fromkeys(WEIGHTS, 1.0) | {"uno": 0.5, "due": 0.5, "tre": 0.5})
    run(Attack("toy", UNTARGETED, Lexicon(SYNONYMS), LeaveOneOut()), victim, "three one two")
    assert visits(victim, "") == ["tre one two", "tre uno two", "tre uno due"]
    victim = BagOfWords({"one": 1.0, "uno": 1.0, "two": 1.0, "due": 1.5})
    row = run(Attack("toy", UNTARGETED, Lexicon(SYNONYMS), LeaveOneOut()), victim, "one two")
    assert (row.outcome, row.adversarial) == ("failed", ("one two",))


@dataclass(frozen=True)
class Liking:
    """Similarities from a dict by word."""

    similarities: dict[str, float]

    def keep(self, candidates, current, original):
        return [replace(one, similarity=self.similarities[one.text.word(one.position)]) for one in candidates]


def test_of_several_flips_the_most_similar_is_taken():
    synonyms = {"one": ("a", "b", "c", "d")}
    victim = BagOfWords({"one": 1.0, "a": -3.0, "b": -1.0, "c": -2.0, "d": 0.5})
    for similarities, expected in [
        ({"a": 0.1, "b": 0.3, "c": 0.2, "d": 0.9}, "b"),  # d is the most similar, but does not flip
        ({"a": 0.1, "b": 0.1, "c": 0.1, "d": 0.1}, "a"),  # no difference: the strongest
    ]:
        rules = (Liking(similarities),)
        attack = Attack("toy", UNTARGETED, Lexicon(synonyms), LeaveOneOut(), (), rules)
        row = run(attack, victim, "one")
        assert (row.outcome, row.adversarial) == ("succeeded", (expected,))
        assert row.adversarial_scores[1] == pytest.approx(victim.probability((expected,)))
