"""Dev shares of training sets that have no dev split, the same for all seeds."""

import hashlib

import numpy as np

from rse_study.data.labelled import Text
from rse_study.data.overlap import bare


def held_out(texts: list[Text], share: float) -> np.ndarray:
    """Return [n] bool, True for about `share` of the texts.

    Texts that differ only in punctuation or case are held out together.
    """
    return np.array([_uniform_hash(text) < share for text in texts], bool)


def _uniform_hash(text: Text) -> float:
    """Hash a text to a number in [0, 1), uniformly."""
    digest = hashlib.sha256("\n".join(bare(text)).encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56
