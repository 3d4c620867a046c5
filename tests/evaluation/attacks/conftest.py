"""A toy lexicon and sentences of it."""

import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from rse_study.data.labelled import Labelled
from rse_study.evaluation.attacks import AttackedText
from rse_study.evaluation.attacks.attack import UNTARGETED, Attack
from rse_study.evaluation.attacks.attack_recipe import AttackResources, NamedModel, Resource, WeightedSaliency
from rse_study.evaluation.attacks.transformations import Blank, repeat_modification, stopword_modification
from tests.evaluation.attacks.bag_of_words import BagOfWords
from tests.evaluation.attacks.toy_data import STOPWORDS, VOCABULARY, lay


@dataclass(frozen=True)
class Lexicon:
    """Replacements from a dict, in alphabetical order."""

    synonyms: dict[str, tuple[str, ...]]

    def replacements(self, attacked: AttackedText, position: int, draw: np.random.Generator) -> list[str]:
        return sorted(self.synonyms.get(attacked.word(position), ()))


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


def pwws_with(synonyms: dict[str, tuple[str, ...]]) -> Attack:
    rules = (repeat_modification, stopword_modification(STOPWORDS))
    return Attack("toy", UNTARGETED, Lexicon(synonyms), WeightedSaliency(), rules)


@pytest.fixture
def attack(lexicon) -> Attack:
    return pwws_with(lexicon)


def letters(texts: list[str]) -> np.ndarray:
    """A sentence encoder: how often each letter occurs, and how often anything does."""
    return np.array([[1.0 + len(text), *(text.count(chr(97 + i)) for i in range(26))] for text in texts])


class Guesses:
    """A language model: words that have stood between the same neighbours, or beside one of them, in `sentences`."""

    def __init__(self, sentences: list[str]) -> None:
        self.seen = Counter(
            (before, word, behind)
            for sentence in sentences
            for before, word, behind in zip(
                ["", *sentence.split()], sentence.split(), [*sentence.split()[1:], ""], strict=False
            )
        )

    def __call__(self, blanks):
        return [self._of(blank) for blank in blanks]

    def _of(self, blank: Blank) -> list[tuple[str, float]]:
        padded = ["", *blank.words, ""]
        before, behind = padded[blank.position], padded[blank.position + 2]
        votes: Counter[str] = Counter()
        for (left, word, right), count in self.seen.items():
            votes[word] += count * (1 + 10 * (left == before) + 10 * (right == behind))
        if not blank.is_masked:
            votes[blank.words[blank.position]] += votes.total()
        ranked = sorted(votes.items(), key=lambda pair: (-pair[1], pair[0]))
        return [(word, count / votes.total()) for word, count in ranked]


@pytest.fixture(scope="session")
def toy_data(tmp_path_factory) -> Path:
    """A data folder with a few words in the real layout."""
    return lay(Resource, tmp_path_factory.mktemp("data"))


@pytest.fixture
def resources(toy_data, sentences) -> AttackResources:
    guesses = Guesses([text for (text,) in sentences.texts])
    encoder, masked_lm = NamedModel("letters", letters), NamedModel("guesses", guesses)
    return AttackResources(toy_data, encoder=encoder, masked_lm=masked_lm)
