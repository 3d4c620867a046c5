"""Tables of a page."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

import pandas as pd

from analysis.formats import NOT_THERE
from analysis.page.blocks import link

SHORT = 16  # characters of a heading that stays in one line
BROAD = 22  # characters of a heading above which its column is broad, for two lines
LONG = 44  # characters of a text that has more than one line
SHOWN = 500  # rows of a table of thousands that scripts show at first; without scripts, all of them
WHEN = re.compile(r"\d{4}-\d\d-\d\d\b")  # start of a date
NUMBER = re.compile(r"[(\[<~ ]*[-+\N{MINUS SIGN}]?\.?\d")  # start of a cell with a number


@dataclass(frozen=True)
class CellLink:
    """The content of a table's cell that is a link."""

    text: str
    address: str
    """A file beside the page, or `#anchor`."""


def table(
    frame: pd.DataFrame,
    row_classes: Sequence[str] = (),
    kind: str = "",
    name: str = "",
    row_names: Sequence[str] = (),
    extra: Collection[str] = (),
    wide: Collection[str] = (),
) -> str:
    """Return a frame of strings and links as a table; a wide one scrolls in its box.

    Pairs as columns make two lines of headings. Columns of words are left-aligned, those of numbers right-aligned.
    `kind` and `row_classes` are CSS classes; `name` makes the anchor `table-NAME` and the name of the download;
    `row_names` are anchors of rows, unique on the page, or "". Columns named in `extra` are behind a switch; those
    in `wide`, on a narrow screen.
    """
    classes, anchors = row_classes or [""] * len(frame), row_names or [""] * len(frame)
    names = [name[-1] if isinstance(name, tuple) else name for name in frame.columns]
    kinds = [
        _kinds_of_column(frame, place) + ("extra",) * (name in extra) + ("roomy",) * (name in wide)
        for place, name in enumerate(names)
    ]
    rows = [
        f"<tr{_attribute('id', anchor)}{_attribute('class', kind_of_row)}>"
        + "".join(_cell(value, kinds[place]) for place, value in enumerate(row))
        + "</tr>"
        for kind_of_row, anchor, row in zip(classes, anchors, frame.itertuples(index=False), strict=True)
    ]
    anchor = _attribute("id", f"table-{name}" if name else "")
    bodies = _body(rows) if len(rows) <= 2 * SHOWN else _body(rows[:SHOWN]) + _body(rows[SHOWN:], "rest")
    opening = f'<div class="scroll {kind}"><table{anchor} class="{kind}"><thead>{_head(frame.columns, kinds)}</thead>'
    return f"{opening}{bodies}</table></div>"


def _body(rows: Sequence[str], kind: str = "") -> str:
    return "\n".join([f"<tbody{_attribute('class', kind)}>", *rows, "</tbody>"])


def _kinds_of_column(frame: pd.DataFrame, place: int) -> tuple[str, ...]:
    texts = [_text(value) for value in frame.iloc[:, place]]
    filled = [text for text in texts if text and text != NOT_THERE]
    is_text = (
        place > 0 and bool(filled) and sum(bool(NUMBER.match(text)) for text in filled) < len(filled) / 2
    )
    columns = frame.columns
    begins = isinstance(columns, pd.MultiIndex) and place > 0 and columns[place][0] != columns[place - 1][0]
    return ("text",) * is_text + ("begins",) * begins


def _text(value: object) -> str:
    return value.text if isinstance(value, CellLink) else str(value)


def _cell(value: object, kinds_of_column: tuple[str, ...]) -> str:
    text = _text(value)
    own = ("wide",) * (len(text) > LONG) + ("when",) * bool(WHEN.match(text))
    inside = link(value.address, text) if isinstance(value, CellLink) else escape(text)
    return f"<td{_attribute('class', ' '.join((*kinds_of_column, *own)))}>{inside}</td>"


def _attribute(name: str, value: str) -> str:
    return f' {name}="{escape(value)}"' if value else ""


def _head(columns: pd.Index, kinds: Sequence[tuple[str, ...]]) -> str:
    if not isinstance(columns, pd.MultiIndex):
        return f"<tr>{_headings([str(name) for name in columns], kinds)}</tr>"
    groups = [(group, len(list(names))) for group, names in groupby(columns, key=lambda pair: pair[0])]
    upper = "".join(
        f'<th class="group{" begins" if place else ""}" colspan="{width}"><span>{escape(group)}</span></th>'
        for place, (group, width) in enumerate(groups)
    )
    return f"<tr>{upper}</tr><tr>{_headings([name for _, name in columns], kinds)}</tr>"


def _headings(names: Sequence[str], kinds: Sequence[tuple[str, ...]]) -> str:
    sizes = [("short",) * (len(name) <= SHORT) + ("broad",) * (len(name) > BROAD) for name in names]
    return "".join(
        f"<th{_attribute('class', ' '.join((*kind, *size)))}>{escape(name)}</th>"
        for kind, size, name in zip(kinds, sizes, names, strict=True)
    )
