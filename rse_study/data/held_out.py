"""A dev share of a training set without one: by content, the same for every seed."""

import hashlib

import numpy as np

from rse_study.data.labelled import Text
from rse_study.data.overlap import bare


def held_out(texts: list[Text], share: float) -> np.ndarray:
    """[n] bool, True for about `share` of the texts.

    Texts that differ in signs or case alone go together.
    """
    return np.array([_uniform_hash(text) < share for text in texts], bool)


def _uniform_hash(text: Text) -> float:
    """A number in [0, 1), uniform over texts."""
    digest = hashlib.sha256("\n".join(bare(text)).encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56
