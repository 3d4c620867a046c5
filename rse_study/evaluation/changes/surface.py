"""Deterministic changes of a text's surface: case and final punctuation."""

import re

import numpy as np

from rse_study.evaluation.changes.change import ChangeResources

_FINAL_MARKS = re.compile(r"[\s.!?…。！？؟۔]+\Z")


def upper_case(text: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """Put the text in capitals."""
    return text.upper()


def lower_case(text: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """Put the text in lower case."""
    return text.lower()


def punctuation(text: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """Drop the final punctuation, or add a full stop; keep a text of nothing else."""
    bare = _FINAL_MARKS.sub("", text)
    if not bare:
        return text
    return bare if bare != text.rstrip() else bare + "."
