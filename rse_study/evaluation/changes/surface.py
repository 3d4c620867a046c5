"""Changes of a text's surface: case and final punctuation. Nothing is drawn."""

import re

import numpy as np

from rse_study.evaluation.changes.change import ChangeResources

_FINAL_MARKS = re.compile(r"[\s.!?…。！？؟۔]+\Z")


def upper_case(text: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """All in capitals."""
    return text.upper()


def lower_case(text: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """All in small letters."""
    return text.lower()


def punctuation(text: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """The marks at the end dropped, or a full stop put there; a text of nothing but marks and blanks stays."""
    bare = _FINAL_MARKS.sub("", text)
    if not bare:
        return text
    return bare if bare != text.rstrip() else bare + "."
