"""Transformations of words, and constraints on them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from rse_study.data.lexicons import LetterTable, SynonymList, lemmas_of
from rse_study.evaluation.attacks import AttackedText, is_one_word
from rse_study.evaluation.attacks.attack import Candidate, PreTransformationConstraint, Transformation
from rse_study.tensors import Float


@dataclass(frozen=True)
class WordNetSwap:
    """Lemmas of all synsets of a word but phrases and itself, sorted as in TextAttack."""

    data_dir: Path

    def replacements(self, text: AttackedText, position: int, generator: np.random.Generator) -> list[str]:
        word = text.word(position)
        lemmas = lemmas_of(word, self.data_dir)
        return [name for name in lemmas if name != word and "_" not in name and is_one_word(name)]


@dataclass(frozen=True)
class NeighbourSwap:
    """Offers the first synonyms of a list, in the case of the word they replace."""

    synonyms: SynonymList
    num_candidates: int

    def replacements(self, text: AttackedText, position: int, generator: np.random.Generator) -> list[str]:
        word = text.word(position)
        near = self.synonyms.nearest(word.lower(), self.num_candidates)
        cased = dict.fromkeys(cased_like(word, other) for other in near if is_one_word(other))
        return [other for other in cased if other != word]


def cased_like(model: str, word: str) -> str:
    """Return `word` in lower case, upper case or capitalised, as `model` is."""
    if model.islower():
        return word.lower()
    if model.isupper() and len(model) > 1:
        return word.upper()
    if model[:1].isupper() and model[1:].islower():
        return word[:1].upper() + word[1:].lower()
    return word


class Blank(NamedTuple):
    """One position of a sentence for a language model to fill."""

    words: list[str]
    position: int
    is_masked: bool


MaskedLM = Callable[[Sequence[Blank]], list[list[tuple[str, float]]]]
"""Maps each blank to whole words and probabilities, likeliest first, at least as many as a recipe takes."""


@dataclass(frozen=True)
class MaskedLMSwap:
    """Offers the likeliest words at a position, but punctuation and the word itself."""

    model: MaskedLM
    num_candidates: int
    is_masked: bool
    min_probability: float = 0.0

    def replacements(self, text: AttackedText, position: int, generator: np.random.Generator) -> list[str]:
        words, place = text.pieces(position)
        (predicted,) = self.model([Blank(words, place, self.is_masked)])
        likely = [word for word, probability in predicted if probability >= self.min_probability]
        fit = dict.fromkeys(word for word in likely if is_one_word(word) and not any(map(str.isspace, word)))
        # As in TextAttack, the word itself counts as one of the best and is dropped afterwards.
        return [word for word in list(fit)[: self.num_candidates] if word != text.word(position)]


@dataclass(frozen=True)
class Bugs:
    """TextBugger's five bugs of a word, each made once (Li et al. 2019).

    A space inside, a missing letter, two letters swapped, a look-alike letter, a neighbouring key. Only the
    last two may change the first or last letter. The paper substitutes one letter from either table, here
    each table gives one; TextAttack has no keyboard bug, and offers a look-alike for every letter.
    """

    homoglyphs: LetterTable
    keyboard: LetterTable

    def replacements(self, text: AttackedText, position: int, generator: np.random.Generator) -> list[str]:
        word = text.word(position)
        bugs = [
            _space_inside(word, generator),
            _one_missing(word, generator),
            _two_swapped(word, generator),
            _substituted(word, self.homoglyphs, generator),
            _substituted(word, self.keyboard, generator),
        ]
        return [bug for bug in dict.fromkeys(bugs) if bug != word]


def _space_inside(word: str, generator: np.random.Generator) -> str:
    i = _choose(range(1, len(word) - 1), generator)
    return f"{word[:i]} {word[i:]}" if i else word


def _one_missing(word: str, generator: np.random.Generator) -> str:
    i = _choose(range(1, len(word) - 1), generator)
    return word[:i] + word[i + 1 :] if i else word


def _two_swapped(word: str, generator: np.random.Generator) -> str:
    # Swapping equal letters changes nothing.
    i = _choose([i for i in range(1, len(word) - 2) if word[i] != word[i + 1]], generator)
    return word[:i] + word[i + 1] + word[i] + word[i + 2 :] if i else word


def _substituted(word: str, lookalikes: LetterTable, generator: np.random.Generator) -> str:
    places = [i for i, character in enumerate(word) if lookalikes.get(character)]
    if not places:
        return word
    i = _choose(places, generator)
    options = lookalikes[word[i]]
    return word[:i] + options[int(generator.integers(len(options)))] + word[i + 1 :]


def _choose(numbers: Sequence[int], generator: np.random.Generator) -> int:
    return numbers[int(generator.integers(len(numbers)))] if numbers else 0


@dataclass(frozen=True)
class CompositeTransformation:
    """Offers the words of all its transformations, each word once."""

    transformations: tuple[Transformation, ...]

    def replacements(self, text: AttackedText, position: int, generator: np.random.Generator) -> list[str]:
        offers = (each.replacements(text, position, generator) for each in self.transformations)
        return list(dict.fromkeys(word for offer in offers for word in offer))


def repeat_modification(text: AttackedText, position: int) -> bool:
    """Allow a change only of words that were not changed before."""
    return position not in dict(text.changes)


def stopword_modification(stopwords: frozenset[str]) -> PreTransformationConstraint:
    """Protect lower-case stop words; as in TextAttack, "The" is none."""
    return lambda text, position: text.word(position) not in stopwords


Sides = Literal["both", "first", "second"]


def input_column_modification(sides: Sides) -> PreTransformationConstraint:
    """Allow changes on one side of a pair; a single sentence may always be changed."""
    wanted = {"both": (0, 1), "first": (0,), "second": (1,)}[sides]
    return lambda text, position: len(text.original) == 1 or text.spans[position].side in wanted


def word_constraints(stopwords: frozenset[str], sides: Sides) -> tuple[PreTransformationConstraint, ...]:
    """Return the constraints on words that all recipes have."""
    return repeat_modification, stopword_modification(stopwords), input_column_modification(sides)


def max_words_perturbed(share: float) -> PreTransformationConstraint:
    """Allow changes to a share (0..1) of the text's words, rounded up."""
    return lambda text, position: len({position, *text.changed}) <= math.ceil(share * len(text))


Encode = Callable[[list[str]], np.ndarray]

MOST_KEPT = 4096  # vectors of unchanged texts; the oldest are dropped first


@dataclass(frozen=True)
class SentenceSimilarity:
    """Keeps candidates whose similarity to the reference text reaches a threshold.

    For a pair only the changed side is compared. TextAttack compares both as one text, where the unchanged
    half makes everything similar.
    """

    encode: Encode
    threshold: float
    metric: Literal["cosine", "angular"]
    """angular is 1 - angle / pi"""
    reference: Literal["original", "current"]
    """the text before every change, or just before this one"""
    window: int | None
    """words around the change to compare; shorter texts pass (TextFooler). None: all"""
    _originals: dict[str, np.ndarray] = field(default_factory=dict, init=False, repr=False, compare=False)
    """vectors of unchanged texts, encoded one by one to be the same in any order"""

    def keep(
        self, candidates: Sequence[Candidate], current: AttackedText, original: AttackedText
    ) -> Sequence[Candidate]:
        position = candidates[0].position
        if self.window is not None and len(current.neighbours(position)) < self.window:
            return [replace(candidate, similarity=1.0) for candidate in candidates]
        reference = original if self.reference == "original" else current
        texts = [self._read(one.text, position) for one in candidates]
        measured = zip(
            candidates, self._similarities(self._read(reference, position), texts).tolist(), strict=True
        )
        return [replace(one, similarity=value) for one, value in measured if value >= self.threshold]

    def _read(self, text: AttackedText, position: int) -> str:
        return text.side_of(position) if self.window is None else text.window(position, self.window)

    def _similarities(self, reference: str, texts: list[str]) -> Float[np.ndarray, " n"]:
        rows = self._encoded(reference, texts)
        with np.errstate(invalid="ignore", divide="ignore"):
            unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        cosines = np.clip((unit[1:] * unit[0]).sum(axis=1), -1, 1)
        return cosines if self.metric == "cosine" else 1 - np.arccos(cosines) / np.pi

    def _encoded(self, reference: str, texts: list[str]) -> Float[np.ndarray, "m d"]:
        if self.reference == "current":
            return np.asarray(self.encode([reference, *texts]), np.float64)
        if reference not in self._originals:
            while len(self._originals) >= MOST_KEPT:
                del self._originals[next(iter(self._originals))]
            self._originals[reference] = np.asarray(self.encode([reference]), np.float64)
        return np.concatenate([self._originals[reference], np.asarray(self.encode(texts), np.float64)])
