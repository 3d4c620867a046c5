"""Typos of one letter in a word."""

from string import ascii_lowercase

import numpy as np

from rse_study.evaluation.changes.change import ChangeResources


def swap(word: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """Swap two neighbouring letters that differ."""
    places = [i for i in _letters(word)[:-1] if word[i + 1].isalpha() and word[i] != word[i + 1]]
    if not places:
        return word
    i = int(generator.choice(places))
    return word[:i] + word[i + 1] + word[i] + word[i + 2 :]


def delete(word: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """Leave out a letter, unless it is the only one."""
    places = _letters(word)
    if len(places) < 2:
        return word
    i = int(generator.choice(places))
    return word[:i] + word[i + 1 :]


def insert(word: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """Insert a letter: of the alphabet in an ASCII word, else one of the word's own."""
    options = list(ascii_lowercase) if word.isascii() else [word[i] for i in _letters(word)]
    if not options:
        return word
    letter = str(generator.choice(options))
    i = int(generator.integers(len(word) + 1))
    return word[:i] + (letter.upper() if len(word) > 1 and word.isupper() else letter) + word[i:]


def repeat(word: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """Repeat a letter."""
    places = _letters(word)
    if not places:
        return word
    i = int(generator.choice(places))
    return word[: i + 1] + word[i:]


def keyboard(word: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """Replace a letter by a neighbour on the keyboard."""
    table = resources.neighbouring_keys
    places = [i for i in range(len(word)) if word[i].lower() in table]
    if not places:
        return word
    i = int(generator.choice(places))
    new = str(generator.choice(table[word[i].lower()]))
    return word[:i] + (new.upper() if word[i].isupper() else new) + word[i + 1 :]


def homoglyph(word: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """Replace a letter by a character that looks like it."""
    places = [i for i in range(len(word)) if word[i] in resources.lookalikes]
    if not places:
        return word
    i = int(generator.choice(places))
    return word[:i] + str(generator.choice(resources.lookalikes[word[i]])) + word[i + 1 :]


def _letters(word: str) -> list[int]:
    return [i for i, character in enumerate(word) if character.isalpha()]
