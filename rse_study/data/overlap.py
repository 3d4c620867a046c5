"""Removal of attacked inputs from a victim's training texts.

Texts are compared by letters (a to z) and digits, lower-cased: all of the 1000 inputs attacked in MR are in MR, but
only six of them verbatim, and 16 have lost their non-ASCII letters ("clich s" for "clichés").
"""

import hashlib
from collections.abc import Iterable

import numpy as np

from rse_study.data.labelled import Labelled, Text
from rse_study.tensors import Int

_NO_LETTERS = {code: None for code in range(128) if not chr(code).isalnum()}


def without(training: Labelled, inputs: Iterable[Text]) -> tuple[Labelled, int]:
    """Return what is not among `inputs`, and the number of examples removed."""
    kept = unseen(training.texts, inputs)
    return training.take(kept), len(training) - len(kept)


def unseen(texts: Iterable[Text], inputs: Iterable[Text]) -> Int[np.ndarray, " m"]:
    """Return the places of texts that are not among `inputs`."""
    seen = {bare(text) for text in inputs}
    return np.array([place for place, text in enumerate(texts) if bare(text) not in seen], np.int64)


def num_found(inputs: Iterable[Text], training: Labelled) -> int:
    """Count the inputs that occur in the training set."""
    seen = {bare(text) for text in training.texts}
    return sum(bare(text) in seen for text in inputs)


def bare(text: Text) -> Text:
    """Reduce a text to its letters and digits (a-z, 0-9), lower-cased, part by part.

    A part mostly in another script keeps all its letters and digits; one without any is only stripped.
    """
    return tuple(_bare(part) for part in text)


def _bare(part: str) -> str:
    lower = part.lower()
    if lower.isascii():  # hundreds of thousands of reviews in seconds
        return lower.translate(_NO_LETTERS) or part.strip()
    known = "".join(c for c in lower if c.isalnum())
    latin = "".join(c for c in known if c.isascii())
    return (latin if 2 * len(latin) > len(known) else known) or part.strip()


def held_out(texts: list[Text], share: float) -> np.ndarray:
    """Return [n] bool, True for about `share` of the texts.

    Texts that differ only in punctuation or case are held out together.
    """
    return np.array([_uniform_hash(text) < share for text in texts], bool)


def _uniform_hash(text: Text) -> float:
    """Hash a text to a number in [0, 1), uniformly."""
    digest = hashlib.sha256("\n".join(bare(text)).encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56
