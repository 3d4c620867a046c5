"""Texts and tables fitted into a width; some characters take two columns of it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
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


GAP = "  "
FIRST_SHARE = 0.4
"""of the width: the first column is shortened to it before another one is left out"""
NUMBER = re.compile(r"[\[(]?[+\-\N{MINUS SIGN}]?\d")
TextColumn = list[str]
"""a heading, perhaps broken into lines, and a text for each row"""


class TextTable(NamedTuple):
    """The lines of a table, and the headings it had no room for."""

    lines: tuple[str, ...]
    dropped: tuple[str, ...] = ()


def text_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int | None = None,
    droppable: Sequence[str] = (),
) -> TextTable:
    """Align rows of texts as lines; no row is ever broken.

    Where lines would be wider than `width`, headings are broken at spaces, then the first column, which names the rows,
    is shortened, then whole columns are left out: those of `droppable` in that order, then others from the right.
    """
    columns = {name: [name, *(str(row[place]) for row in rows)] for place, name in enumerate(headings)}
    if width is None or _width(columns) <= width:
        return TextTable(_set_side_by_side(columns))
    columns = {name: _broken(*column) for name, column in columns.items()}
    first, names = headings[0], columns[headings[0]]
    if _width(columns) > width:
        columns[first] = _shortened(names, max(1, int(width * FIRST_SHARE)))
    for name in dict.fromkeys((*droppable, *headings[:0:-1])):
        if _width(columns) > width and name != first:
            columns.pop(name, None)
    columns[first] = _shortened(names, max(1, width - _width(columns) + _width_of(columns[first])))
    return TextTable(_set_side_by_side(columns), tuple(name for name in headings if name not in columns))


def _broken(heading: str, *cells: str) -> TextColumn:
    """Break the heading into lines no wider than the cells or its longest word."""
    room = max(map(cell_len, (*cells, *heading.split(" "))))
    return [wrapped(heading, room, ""), *cells]


def _shortened(column: TextColumn, width: int) -> TextColumn:
    """Shorten the column to `width`, or as far as its cells can still be told apart."""
    heading, *cells = column
    for room in range(width, _width_of(column)):
        short = [shorten(cell, room) for cell in cells]
        if len(set(short)) == len(set(cells)):
            return ["\n".join(shorten(line, room) for line in heading.split("\n")), *short]
    return column


def _width_of(column: TextColumn) -> int:
    return max(cell_len(line) for text in column for line in text.split("\n"))


def _width(columns: Mapping[str, TextColumn]) -> int:
    return sum(map(_width_of, columns.values())) + len(GAP) * (len(columns) - 1)


def _set_side_by_side(columns: Mapping[str, TextColumn]) -> tuple[str, ...]:
    """Return the lines: words to the left, the first column and its heading too, numbers to the right."""
    height, shown = max(heading.count("\n") for heading, *_ in columns.values()), []
    for place, (heading, *cells) in enumerate(columns.values()):
        texts = [*[""] * (height - heading.count("\n")), *heading.split("\n"), *cells]
        width = max(map(cell_len, texts))
        spaces = [" " * (width - cell_len(text)) for text in texts]
        is_number = place > 0 and any(map(NUMBER.match, cells))
        pairs = zip(spaces, texts, strict=True) if is_number else zip(texts, spaces, strict=True)
        shown.append(map("".join, pairs))
    return tuple(GAP.join(row).rstrip() for row in zip(*shown, strict=True))
