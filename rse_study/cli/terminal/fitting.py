"""Text fitted into a width in columns, of which some characters take two."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
SHORTEST_NAME = 24
"""columns of a shortened name; below that, values go first"""
INDENT = "    "
# Control characters, those that turn the direction of writing, and bytes that are no text.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def shorten(text: str, width: int) -> str:
    """Replace the middle of a wide text: names of trials begin alike or end alike.

    >>> shorten("row rho = 0.25, norm = l2 seed 1", 20)
    'row rho =…l2 seed 1'
    """
    if cell_len(text) <= width:
        return text
    if width <= 1:
        return ELLIPSIS[:width]
    tail = (width - 1) // 2
    first = set_cell_size(text, width - 1 - tail).rstrip()
    last = set_cell_size(text[::-1], tail)[::-1].lstrip()
    return f"{first}{ELLIPSIS}{last}"


def harmless(text: str) -> str:
    r"""Write out the control characters of a text, which a terminal would obey.

    >>> harmless("row \x1b[2J: done\n")
    'row \\x1b[2J: done\n'
    """
    return CONTROL.sub(lambda found: ascii(found.group())[1:-1], text)


def wrapped(text: str, width: int | None, indent: str = INDENT) -> str:
    """Break lines at spaces and indent what goes on; None breaks nothing.

    A word wider than a line, such as a path, stays whole on its own line, so that it can be copied.
    """
    if width is None:
        return text
    return "\n".join(line for paragraph in text.split("\n") for line in _lines(paragraph, width, indent))


def _lines(paragraph: str, width: int, indent: str) -> Iterator[str]:
    own = paragraph[: len(paragraph) - len(paragraph.lstrip(" "))]
    line = ""
    for word in re.findall(r" *[^ ]+", paragraph):
        if line and cell_len(line + word) > width:
            yield line
            line = f"{own}{indent}{word.lstrip(' ')}"
        else:
            line += word
    yield line


@dataclass(frozen=True)
class LinePart:
    """A value of a line, and when it may be left out."""

    text: str
    is_dropped: bool = True
    """whether it may be left out at all"""
    is_dropped_first: bool = False
    """whether it goes before the name is shortened"""


def fit_line(name: str, parts: Sequence[LinePart], width: int) -> str:
    """Format a name and its values as one line, dropping and shortening as marked."""
    left = [part for part in parts if part.text]
    left = _dropped(name, left, width, [part for part in left if part.is_dropped_first])
    shortest = shorten(name, SHORTEST_NAME)
    left = _dropped(shortest, left, width, [part for part in left if part.is_dropped])
    room = max(SHORTEST_NAME // 2, width - cell_len(_joined("", left)))
    return _joined(shorten(name, room), left)


def _dropped(name: str, parts: list[LinePart], width: int, droppable: list[LinePart]) -> list[LinePart]:
    left = list(parts)
    while droppable and cell_len(_joined(name, left)) > width:
        left.remove(droppable.pop())
    return left


def _joined(name: str, parts: Sequence[LinePart]) -> str:
    values = "  ".join(part.text for part in parts)
    return f"{name}: {values}" if values else f"{name}:"
