"""A toy lexicon and sentences of it."""

import random
from dataclasses import dataclass

import numpy as np
import pytest

from rse_study.data.labelled import Labelled
from rse_study.evaluation.attacks.constraints.repeats import NoRepeat
from rse_study.evaluation.attacks.constraints.stopwords import NoStopword
from rse_study.evaluation.attacks.goals import UNTARGETED
from rse_study.evaluation.attacks.recipe import Recipe
from rse_study.evaluation.attacks.search.greedy import Greedy
from rse_study.evaluation.attacks.search.weighted_saliency import WeightedSaliency
from rse_study.evaluation.attacks.words import Worded
from tests.evaluation.attacks.bag_of_words import BagOfWords

VOCABULARY = [f"{kind}{i}" for i in range(12) for kind in ("good", "bad", "odd")]
STOPWORDS = frozenset({"the", "a", "of"})


@dataclass(frozen=True)
class Lexicon:
    """Replacements from a dict, in alphabetical order."""

    synonyms: dict[str, tuple[str, ...]]

    def replacements(self, worded: Worded, position: int, draw: np.random.Generator) -> list[str]:
        return sorted(self.synonyms.get(worded.word(position), ()))


@pytest.fixture
def lexicon() -> dict[str, tuple[str, ...]]:
    draw = random.Random(3)
    return {word: tuple(draw.sample(VOCABULARY, draw.randrange(6))) for word in VOCABULARY}


@pytest.fixture
def weights() -> dict[str, float]:
    draw = random.Random(5)
    return {word: draw.gauss(0, 1) for word in [*VOCABULARY, "[UNK]", *STOPWORDS]}


@pytest.fixture
def victim(weights) -> BagOfWords:
    return BagOfWords(weights)


@pytest.fixture
def sentences() -> Labelled:
    draw = random.Random(7)
    words = [*VOCABULARY, *STOPWORDS, "...", "--"]
    texts = [(" ".join(draw.choices(words, k=draw.randrange(1, 16))) + " .",) for _ in range(40)]
    return Labelled("toy", "test", texts, np.array([draw.randrange(2) for _ in texts]), ("no", "yes"))


def pwws_with(synonyms: dict[str, tuple[str, ...]], **settings) -> Recipe:
    rules = (NoRepeat(), NoStopword(STOPWORDS))
    search = Greedy(ranking=WeightedSaliency(**settings))
    return Recipe("toy", UNTARGETED, Lexicon(synonyms), search, rules)


@pytest.fixture
def recipe(lexicon) -> Recipe:
    return pwws_with(lexicon)
