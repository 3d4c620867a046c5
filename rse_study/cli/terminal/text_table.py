"""Rows of texts as aligned lines, with as many columns as a width has room for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from rse_study.cli.terminal.fitting import shorten

GAP = "  "
FIRST_SHARE = 0.4
"""of the width: the first column is shortened to it before another one is left out"""
NUMBER = re.compile(r"[\[(]?[+\-\N{MINUS SIGN}]?\d")


@dataclass(frozen=True)
class TextTable:
    """The lines of a table, and the headings it had no room for."""

    lines: tuple[str, ...]
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True)
class TextColumn:
    """A heading, broken into lines, and a text for each row."""

    name: str
    heading: tuple[str, ...]
    cells: tuple[str, ...]

    @property
    def width(self) -> int:
        return max(map(cell_len, (*self.heading, *self.cells)))

    @property
    def is_number(self) -> bool:
        """Whether some cell is a number, so that the column is set to the right."""
        return any(NUMBER.match(cell) for cell in self.cells)


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
    whole = [
        TextColumn(name, (name,), tuple(str(row[place]) for row in rows))
        for place, name in enumerate(headings)
    ]
    if width is None or _width(whole) <= width:
        return TextTable(_lines(whole))
    broken = [_broken(column) for column in whole]
    first = _shortened(broken[0], max(1, int(width * FIRST_SHARE)))
    columns, dropped = [broken[0], *broken[1:]], list[str]()
    if _width(columns) > width:
        columns[0] = first
    order = [*droppable, *(column.name for column in reversed(broken[1:]) if column.name not in droppable)]
    for name in order:
        if _width(columns) <= width:
            break
        kept = [columns[0], *(column for column in columns[1:] if column.name != name)]
        dropped += [name] if len(kept) < len(columns) else []
        columns = kept
    columns[0] = _shortened(broken[0], max(1, width - _width(columns) + columns[0].width))
    return TextTable(_lines(columns), tuple(name for name in headings if name in dropped))


def _broken(column: TextColumn) -> TextColumn:
    """Break the heading into lines no wider than the cells or its longest word."""
    words = column.name.split(" ")
    room = max(map(cell_len, (*column.cells, *words)))
    lines = [words[0]]
    for word in words[1:]:
        joined = f"{lines[-1]} {word}"
        lines = [*lines[:-1], joined] if cell_len(joined) <= room else [*lines, word]
    return TextColumn(column.name, tuple(lines), column.cells)


def _shortened(column: TextColumn, width: int) -> TextColumn:
    """Shorten the column to `width`, or as far as its cells can still be told apart."""
    for room in range(width, column.width):
        cells = tuple(shorten(cell, room) for cell in column.cells)
        if len(set(cells)) == len(set(column.cells)):
            heading = tuple(shorten(line, room) for line in column.heading)
            return TextColumn(column.name, heading, cells)
    return column


def _width(columns: Sequence[TextColumn]) -> int:
    return sum(column.width for column in columns) + len(GAP) * (len(columns) - 1)


def _lines(columns: Sequence[TextColumn]) -> tuple[str, ...]:
    height = max(len(column.heading) for column in columns)
    headings = [[""] * (height - len(column.heading)) + list(column.heading) for column in columns]
    set_columns = [
        [
            _set(text, column.width, to_right=place > 0 and column.is_number)
            for text in (*heading, *column.cells)
        ]
        for place, (column, heading) in enumerate(zip(columns, headings, strict=True))
    ]
    return tuple(GAP.join(row).rstrip() for row in zip(*set_columns, strict=True))


def _set(text: str, width: int, *, to_right: bool) -> str:
    space = " " * (width - cell_len(text))
    return f"{space}{text}" if to_right else f"{text}{space}"
