"""Slips of one letter in a word.

Letters are swapped, left out, put in, doubled, replaced by a neighbour on the keyboard or by a character that looks
alike.
"""

from string import ascii_lowercase

import numpy as np

from rse_study.evaluation.changes.change import ChangeResources


def swap(word: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """Two neighbouring letters that differ change places.

    Parameters
    ----------
    word, generator, resources
        As every `WordEdit` takes them.
    """
    places = [i for i in _letters(word)[:-1] if word[i + 1].isalpha() and word[i] != word[i + 1]]
    if not places:
        return word
    i = int(generator.choice(places))
    return word[:i] + word[i + 1] + word[i] + word[i + 2 :]


def delete(word: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """A letter is left out; the only one stays.

    Parameters
    ----------
    word, generator, resources
        As every `WordEdit` takes them.
    """
    places = _letters(word)
    if len(places) < 2:
        return word
    i = int(generator.choice(places))
    return word[:i] + word[i + 1 :]


def insert(word: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """A letter is put in.

    It is one of the alphabet in an ASCII word, one of the word's own in another script.

    Parameters
    ----------
    word, generator, resources
        As every `WordEdit` takes them.
    """
    options = list(ascii_lowercase) if word.isascii() else [word[i] for i in _letters(word)]
    if not options:
        return word
    letter = str(generator.choice(options))
    i = int(generator.integers(len(word) + 1))
    return word[:i] + (letter.upper() if len(word) > 1 and word.isupper() else letter) + word[i:]


def repeat(word: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """A letter is typed twice.

    Parameters
    ----------
    word, generator, resources
        As every `WordEdit` takes them.
    """
    places = _letters(word)
    if not places:
        return word
    i = int(generator.choice(places))
    return word[: i + 1] + word[i:]


def keyboard(word: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """A letter is replaced by a neighbour on the keyboard.

    Parameters
    ----------
    word, generator, resources
        As every `WordEdit` takes them.
    """
    table = resources.neighbouring_keys
    places = [i for i in range(len(word)) if word[i].lower() in table]
    if not places:
        return word
    i = int(generator.choice(places))
    new = str(generator.choice(table[word[i].lower()]))
    return word[:i] + (new.upper() if word[i].isupper() else new) + word[i + 1 :]


def homoglyph(word: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """A letter is replaced by a character that looks like it.

    Parameters
    ----------
    word, generator, resources
        As every `WordEdit` takes them.
    """
    places = [i for i in range(len(word)) if word[i] in resources.lookalikes]
    if not places:
        return word
    i = int(generator.choice(places))
    return word[:i] + str(generator.choice(resources.lookalikes[word[i]])) + word[i + 1 :]


def _letters(word: str) -> list[int]:
    """Where they stand; "¼" has none."""
    return [i for i, character in enumerate(word) if character.isalpha()]
