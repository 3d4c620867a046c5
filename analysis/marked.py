"""Attacked texts, cut into unchanged and changed pieces."""

import re
from collections.abc import Sequence
from itertools import pairwise

# The attacks' definition of a word, which positions count; rse_study/evaluation/attacks/attacked_text.py says why.
WORD = re.compile(r"(?![-'_*@])[\w'\-_*@`×˗]+")
Pieces = list[str]
"""Unchanged and changed pieces in turn; the first and the last are unchanged, and some are empty."""


def marked(
    original: Sequence[str], adversarial: Sequence[str], changed: Sequence[int]
) -> tuple[list[Pieces], list[Pieces]]:
    """Return the pieces of both texts; `changed` counts words through all parts.

    An adversarial part that differs elsewhere too, or lost a word, is one unchanged piece.
    """
    before, after, num_before = [], [], 0
    for text, other in zip(original, adversarial, strict=True):
        words = list(WORD.finditer(text))
        here = [place - num_before for place in sorted(changed) if 0 <= place - num_before < len(words)]
        pieces = _cut(text, [words[place].span() for place in here])
        before.append(pieces)
        after.append(_around(pieces[::2], other) or [other])
        num_before += len(words)
    return before, after


def _cut(text: str, spans: Sequence[tuple[int, int]]) -> Pieces:
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


def _around(kept: Sequence[str], text: str) -> Pieces | None:
    """Cut the text at the first match of each kept piece; None if they do not fit."""
    if not text.startswith(kept[0]):
        return None
    pieces, cursor = [kept[0]], len(kept[0])
    for number, plain in enumerate(kept[1:], start=2):
        last_place = len(text) - len(plain)
        place = text.find(plain, cursor + 1) if number < len(kept) else last_place
        if place <= cursor or not text.startswith(plain, place):
            return None
        pieces += [text[cursor:place], plain]
        cursor = place + len(plain)
    return pieces if cursor == len(text) else None
