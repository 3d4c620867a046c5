"""Attacked texts, whose words are replaced while positions stay the original's."""

import re
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import NamedTuple

from rse_study.data.labelled import Text

# A word as in TextAttack: word characters and '-_*@ (and three look-alikes that it makes itself), but none of '-_*@
# comes first. This also strips the full stop of "film.".
_RUN = re.compile(r"[\w'\-_*@`×˗]+")
_NEVER_FIRST = "'-_*@"
_PIECE = re.compile(r"[^\w\s]+|\w+")


class Span(NamedTuple):
    """A word's side of a pair, and its first and last character offsets."""

    side: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class AttackedText:
    """A text, the positions of its words, and the words that were changed.

    >>> text = AttackedText.of(("A fine film.",))
    >>> text.words
    ['A', 'fine', 'film']
    >>> text.replaced(1, "dull").text
    ('A dull film.',)
    """

    original: Text
    spans: tuple[Span, ...]
    changes: tuple[tuple[int, str], ...] = ()
    """(position, new word), sorted by position"""

    @classmethod
    def of(cls, text: Text) -> "AttackedText":
        return cls(text, tuple(span for side, part in enumerate(text) for span in _spans(part, side)))

    def __len__(self) -> int:
        return len(self.spans)

    def word(self, position: int) -> str:
        return dict(self.changes).get(position, self._own(position))

    @property
    def words(self) -> list[str]:
        found = [self._own(position) for position in range(len(self))]
        for position, new in self.changes:
            found[position] = new
        return found

    @property
    def changed(self) -> tuple[int, ...]:
        return tuple(position for position, new in self.changes if new != self._own(position))

    def replaced(self, position: int, new: str) -> "AttackedText":
        """Replace a word; an empty one also removes the space before it."""
        return replace(self, changes=tuple(sorted((dict(self.changes) | {position: new}).items())))

    @property
    def text(self) -> Text:
        return tuple(self._read(side, 0, len(part)) for side, part in enumerate(self.original))

    def side_of(self, position: int) -> str:
        side = self.spans[position].side
        return self._read(side, 0, len(self.original[side]))

    def neighbours(self, position: int) -> range:
        side = self.spans[position].side
        return range(bisect_left(self.spans, (side,)), bisect_left(self.spans, (side + 1,)))

    def window(self, position: int, size: int) -> str:
        """Return `size` words around a position; near an end the window shifts."""
        same = self.neighbours(position)
        low = max(same[0], min(position - size // 2, same[-1] - size + 1))
        high = min(low + size - 1, same[-1])
        return self._read(self.spans[position].side, self.spans[low].start, self.spans[high].end)

    def pieces(self, position: int) -> tuple[list[str], int]:
        """Return the side as words and punctuation ("film." is two), and the word's index."""
        side, found, place, cursor = self.spans[position].side, [], 0, 0
        words = self.words
        for each in self.neighbours(position):
            found += _PIECE.findall(self.original[side][cursor : self.spans[each].start])
            place = len(found) if each == position else place
            found.append(words[each])
            cursor = self.spans[each].end
        return [*found, *_PIECE.findall(self.original[side][cursor:])], place

    def _own(self, position: int) -> str:
        side, start, end = self.spans[position]
        return self.original[side][start:end]

    def _read(self, side: int, start: int, end: int) -> str:
        text, parts, cursor = self.original[side], list[str](), start
        for position, new in self.changes:
            span = self.spans[position]
            if span.side == side and start <= span.start < end:
                left, right = (span.start, span.end) if new else _with_space(text, span, position == 0)
                parts += [text[cursor:left], new]
                cursor = max(cursor, right)
        return "".join([*parts, text[cursor:end]])


def is_one_word(text: str) -> bool:
    """Whether the text is a single word, punctuation aside."""
    return len(_spans(text, 0)) == 1


def _spans(text: str, side: int) -> list[Span]:
    found = []
    for run in _RUN.finditer(text):
        start = run.end() - len(run.group().lstrip(_NEVER_FIRST))
        if start < run.end():
            found.append(Span(side, start, run.end()))
    return found


def _with_space(text: str, span: Span, is_first: bool) -> tuple[int, int]:
    """Return the range to cut, with the space before the word, or after the first."""
    if is_first:
        return span.start, span.end + text.startswith(" ", span.end)
    return span.start - (span.start > 0 and text[span.start - 1] == " "), span.end
