"""Pairs of made-up words, an encoder that adds up a vector a word, and synonyms among them."""

import functools
import random
from collections.abc import Iterable

import numpy as np

from rse_study.data.labelled import StsPairs
from rse_study.evaluation.attacks.attack import Attack, Goal
from rse_study.evaluation.attacks.attack_recipe import UNKNOWN, LeaveOneOut
from rse_study.evaluation.attacks.transformations import Sides, input_column_modification, repeat_modification
from tests.evaluation.attacks.conftest import Lexicon

WORDS = [f"w{i}" for i in range(20)]
SYNONYMS = {word: (WORDS[i - 1], WORDS[i - 7]) for i, word in enumerate(WORDS) if i % 4}


@functools.cache
def vector(word: str) -> np.ndarray:
    """Of its own seed, its first number positive: sums are never zero."""
    drawn = np.random.default_rng(list(word.encode())).normal(size=4)
    return np.append(drawn, 1.0)


def embed(sentences: list[str]) -> np.ndarray:
    """Sum of the vectors of the words, [n 5]."""
    return np.stack([np.sum([vector(word) for word in text.split()], axis=0) for text in sentences])


def cosine(first: str, second: str) -> float:
    """Of two sentences, worked out on its own."""
    u, v = embed([first])[0], embed([second])[0]
    return float(u @ v / (u @ u) ** 0.5 / (v @ v) ** 0.5)


def toy_pairs(num: int = 30, seed: int = 0) -> StsPairs:
    """Gold 0..4 that follows the share of words two sentences have in common."""
    draw, rows = random.Random(seed), []
    for _ in range(num):
        first = draw.sample(WORDS, 5)
        kept = draw.randrange(5)  # two equal sentences would be 1 but for rounding, and tie or not by chance
        second = first[:kept] + draw.sample(WORDS, 5 - kept)
        rows.append((" ".join(first), " ".join(second), float(kept)))
    first, second, gold = zip(*rows, strict=True)
    return StsPairs("toy", "dev", list(first), list(second), np.array(gold))


def toy_recipe(goal: Goal, sides: Sides = "both") -> Attack:
    """Synonyms from the table, each word once, in the order of what [UNK] in its place does."""
    rules = (repeat_modification, input_column_modification(sides))
    return Attack("toy", goal, Lexicon(SYNONYMS), LeaveOneOut(token=UNKNOWN), rules)


def num_options(texts: Iterable[str]) -> tuple[int, int]:
    """Words, and synonyms of all of them together."""
    words = [word for text in texts for word in text.split()]
    return len(words), sum(len(SYNONYMS.get(word, ())) for word in words)
