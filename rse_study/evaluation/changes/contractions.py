"""English contractions, written out or contracted throughout a text.

Covered are negations, and am, are, is, will, have after a pronoun, tokenised or not; ambiguous 'd and 's stay.
"""

import re

import numpy as np

from rse_study.evaluation.changes.change import ChangeResources
from rse_study.evaluation.changes.words import in_case_of

_NEGATED = [
    *("are", "could", "did", "does", "do", "had", "has", "have"),
    *("is", "might", "must", "need", "should", "was", "were", "would"),
]
_IRREGULAR = {"can": "ca", "will": "wo", "shall": "sha"}  # the stem before n't
_PERSONS = ["i", "you", "he", "she", "it", "we", "they"]
_SUBJECTS = {
    ("am", "'m"): ["i"],
    ("are", "'re"): ["you", "we", "they"],
    ("is", "'s"): ["he", "she", "it", "that", "there", "here", "what", "where", "who", "how"],
    ("will", "'ll"): _PERSONS,
    ("have", "'ve"): ["i", "you", "we", "they"],
}
_LONG = {
    **{f"{verb} not": f"{verb}n't" for verb in _NEGATED},
    **{f"{verb} not": f"{stem}n't" for verb, stem in _IRREGULAR.items()},
    "cannot": "can't",
    **{f"{who} {verb}": who + short for (verb, short), subjects in _SUBJECTS.items() for who in subjects},
}
_SHORT = {short: long for long, short in _LONG.items()}  # "can't" becomes "cannot", which comes last


def expand(text: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """Write out every contraction; deterministic."""
    return _CONTRACTED.sub(lambda found: _other(found.group(), _SHORT), text)


def contract(text: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """Contract all words that can be, but no verb that ends its clause."""
    return _WRITTEN_OUT.sub(lambda found: _other(found.group(), _LONG), text)


def _contracted() -> re.Pattern[str]:
    """Match _SHORT with either apostrophe, and with the blank of tokenisers."""
    forms = [re.sub(r"(n't|'\w+)$", r" ?\1", short).replace("'", "['’]") for short in sorted(_SHORT)]
    has = r"(?<!['’]s)|(?! (?:been|got)\b)"
    return re.compile(rf"\b(?:{'|'.join(forms)})\b(?:{has})", re.IGNORECASE)


def _written_out() -> re.Pattern[str]:
    """Match _LONG; a pronoun and its verb only before a word, and not before "not"."""
    negations = "|".join(long for long in _LONG if long.endswith("not"))
    others = "|".join(long for long in _LONG if not long.endswith("not") and long != "i am")
    return re.compile(rf"\b(?:(?:{negations})\b|i am(?=\s+\w)|(?:{others})(?=\s+(?!not\b)\w))", re.IGNORECASE)


def _other(found: str, table: dict[str, str]) -> str:
    plain = found.lower().replace("’", "'")
    new = table.get(plain.replace(" ", "") if table is _SHORT else plain)
    # None: re ignores the case of a dotless i or a long s, which lower() leaves as they are.
    return found if new is None else in_case_of(found, new)


_CONTRACTED, _WRITTEN_OUT = _contracted(), _written_out()
