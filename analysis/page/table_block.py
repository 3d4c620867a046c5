"""Tables of a page."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

import pandas as pd

from analysis.page.blocks import link

SHORT = 12  # characters of a heading that stays in one line
LONG = 44  # characters of a row's name that has more than one


@dataclass(frozen=True)
class CellLink:
    """What stands in a table where a text leads somewhere."""

    text: str
    address: str
    """A file beside the page, or `#anchor`."""


def table(
    frame: pd.DataFrame,
    row_classes: Sequence[str] = (),
    kind: str = "",
    name: str = "",
    row_names: Sequence[str] = (),
) -> str:
    """Return a frame of strings as a table; wide ones scroll inside their own box.

    Pairs as columns make two lines of headings.

    Parameters
    ----------
    frame
        The strings, and links.
    row_classes
        A class of the style for each row.
    kind
        A class of the table's.
    name
        Of its anchor, `table-NAME`, and of the file that it is downloaded as.
    row_names
        The anchor of each row, the same for no other row of the page; nothing for a row without one.
    """
    classes, anchors = row_classes or [""] * len(frame), row_names or [""] * len(frame)
    rows = [
        f"<tr{_attribute('id', anchor)}{_attribute('class', kind_of_row)}>"
        + "".join(_cell(value, is_first=not place) for place, value in enumerate(row))
        + "</tr>"
        for kind_of_row, anchor, row in zip(classes, anchors, frame.itertuples(index=False), strict=True)
    ]
    body, anchor = "\n".join(rows), _attribute("id", f"table-{name}" if name else "")
    opening = (
        f'<div class="scroll {kind}"><table{anchor} class="{kind}"><thead>{_head(frame.columns)}</thead>'
    )
    return f"{opening}<tbody>\n{body}\n</tbody></table></div>"


def _cell(value: object, is_first: bool) -> str:
    text = value.text if isinstance(value, CellLink) else str(value)
    kind = ' class="wide"' if is_first and len(text) > LONG else ""
    inside = link(value.address, text) if isinstance(value, CellLink) else escape(text)
    return f"<td{kind}>{inside}</td>"


def _attribute(name: str, value: str) -> str:
    return f' {name}="{escape(value)}"' if value else ""


def _head(columns: pd.Index) -> str:
    if not isinstance(columns, pd.MultiIndex):
        return f"<tr>{_headings([str(name) for name in columns])}</tr>"
    groups = [(group, len(list(names))) for group, names in groupby(columns, key=lambda pair: pair[0])]
    upper = "".join(f'<th class="group" colspan="{width}">{escape(group)}</th>' for group, width in groups)
    return f"<tr>{upper}</tr><tr>{_headings([name for _, name in columns])}</tr>"


def _headings(names: Sequence[str]) -> str:
    kinds = [' class="short"' if len(name) <= SHORT else "" for name in names]
    return "".join(f"<th{kind}>{escape(name)}</th>" for kind, name in zip(kinds, names, strict=True))
