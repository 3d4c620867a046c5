"""Changes of a text's surface: case and final punctuation. Nothing is drawn."""

import re

import numpy as np

from rse_study.evaluation.changes.change import ChangeResources

_FINAL_MARKS = re.compile(r"[\s.!?…。！？؟۔]+\Z")


def upper_case(text: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """All in capitals.

    Parameters
    ----------
    text, generator, resources
        As every `TextChange` takes them.
    """
    return text.upper()


def lower_case(text: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """All in small letters.

    Parameters
    ----------
    text, generator, resources
        As every `TextChange` takes them.
    """
    return text.lower()


def punctuation(text: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """The marks at the end are dropped, or a full stop is put there.

    A text of nothing but marks and blanks stays.

    Parameters
    ----------
    text, generator, resources
        As every `TextChange` takes them.
    """
    bare = _FINAL_MARKS.sub("", text)
    if not bare:
        return text
    return bare if bare != text.rstrip() else bare + "."
