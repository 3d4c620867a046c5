"""Lines, tables, JSON and next steps, fitted into a terminal; pipes get all."""

import json
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.console import Console

from rse_study.cli.parameters import DEFAULT_STORE
from rse_study.study.definition.shipped import shipped_studies

if TYPE_CHECKING:
    import pandas as pd

SHOWN = ("loss", "dev")
MOST_NAMED = 8
"""left-out columns that are named"""


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


def console_of(stream: Any) -> Console:
    """Return a console on a stream, a terminal only where the stream is one."""
    return Console(
        file=stream, force_terminal=stream.isatty(), highlight=False, markup=False, color_system=None
    )


def stdout() -> Console:
    """Return the console of answers."""
    return console_of(sys.stdout)


def stderr() -> Console:
    """Return the console of notes, and of progress where the answer is data."""
    return console_of(sys.stderr)


def width_of(console: Console) -> int | None:
    """Return the columns of a terminal; None, and so no limit, elsewhere."""
    return console.width if console.is_terminal else None


def announce(*texts: str) -> None:
    """Print sentences on stdout, each on its line, on a terminal broken at words."""
    for text in texts:
        say(text, stdout())


def say(text: str, console: Console) -> None:
    """Print sentences on a console, on a terminal broken at words."""
    put(wrapped(text, width_of(console)), console)


def put(text: str, console: Console) -> None:
    """Print a text at once, without control characters, above any live display."""
    console.print(harmless(text), markup=False, highlight=False, emoji=False, soft_wrap=True)
    console.file.flush()


def marked(text: str, is_degenerate: object) -> str:
    """Mark a score that was measured on a model which says one and the same."""
    return f"{text} (degenerate)" if is_degenerate else text


def describe(metrics: Mapping[str, float], shown: Sequence[str] = SHOWN) -> str:
    """Return the few metrics that a reader follows, on one line."""
    known = ((name, metrics[name], metrics.get(f"{name}/degenerate")) for name in shown if name in metrics)
    return "  ".join(marked(f"{name} {value:.4g}", is_degenerate) for name, value, is_degenerate in known)


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


def print_table(frame: "pd.DataFrame", see_all: str, **options: Any) -> None:
    """Print a frame of texts as `print_rows` does, with its options."""
    print_rows(list(frame.columns), frame.astype(str).to_numpy().tolist(), see_all, **options)


def print_rows(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    see_all: str,
    *,
    droppable: Sequence[str] = (),
    is_wide: bool = False,
    console: Console | None = None,
) -> None:
    """Print rows of texts with the columns a terminal has room for.

    Headings in `droppable` go first, in this order; `see_all` says where the columns left out can be seen.
    """
    screen = console or stdout()
    table = text_table(headings, rows, None if is_wide else width_of(screen), droppable)
    put("\n".join(table.lines), screen)
    if table.dropped:
        say(f"not shown: {_named(table.dropped)}; see them with {see_all}", screen)


def _named(names: Sequence[str]) -> str:
    number = f"{len(names)} column{'s' * (len(names) > 1)}"
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{number} ({', '.join(names[:MOST_NAMED])}{more})"


def json_of(content: Any) -> str:
    """Write JSON in ASCII; NaN and infinity become null.

    >>> print(json_of([0.5, float("nan")]))
    [
     0.5,
     null
    ]
    """
    return json.dumps(_finite(content), indent=1, allow_nan=False)


def _finite(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not isfinite(content) else content


def command(*words: str | Path) -> str:
    """Return a command of ours, ready to be copied.

    >>> command("check", "my study")
    "rse-study check 'my study'"
    """
    return shlex.join(["rse-study", *map(str, words)])


def in_store(store: Path) -> tuple[str, ...]:
    """Return the option that names the store, where it is not the default one."""
    return () if store == DEFAULT_STORE else ("--store", str(store))


def with_overrides(overrides: Sequence[str]) -> tuple[str, ...]:
    """Return the options that repeat these overrides."""
    return tuple(word for override in overrides for word in ("-o", override))


def run_again(name: str, store: Path) -> str:
    """Return the command that continues a study, as far as its file is known."""
    shipped = {path.stem.replace("_", "-"): path.stem for path in shipped_studies()}
    is_shipped = name.replace("_", "-") in shipped
    file = f"{name}.yaml" if os.path.isfile(f"{name}.yaml") else name if is_shipped else "STUDY.yaml"
    return command("run", file, *in_store(store))


def suggest(*steps: str) -> None:
    """Print `Next: ...` on stderr, where it disturbs no pipe, if a step follows."""
    if given := "; ".join(filter(None, steps)):
        sys.stdout.flush()
        say(f"Next: {given}", stderr())
