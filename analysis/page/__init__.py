"""The HTML of a report: one file that loads nothing, with anchors for its parts."""

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from gzip import compress, decompress
from html import escape
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.io.json import to_json_plotly
from plotly.offline import get_plotlyjs

from analysis.formats import NOT_THERE
from rse_study.results.export import csv_text
from rse_study.results.files.atomic import write_whole

LARGE = 100_000  # characters: every figure of a small study stays readable in the file
JSON = "application/json"
PACKED = re.compile(r'<script type="application/gzip" class="([\w-]+)" data-type="([\w/]+)">([^<]*)</script>')
DEFAULT_HEIGHT = 450  # pixels, as plotly.js has it
DIGITS = "%.8g"  # of numbers that a reader downloads: more than any figure shows, and half the bytes
SHORT = 16  # characters of a heading that stays in one line
BROAD = 22  # characters of a heading above which its column is broad, for two lines
LONG = 44  # characters of a text that has more than one line
SHOWN = 500  # rows of a table of thousands that scripts show at first; without scripts, all of them
WHEN = re.compile(r"\d{4}-\d\d-\d\d\b")  # start of a date
NUMBER = re.compile(r"[(\[<~ ]*[-+\N{MINUS SIGN}]?\.?\d")  # start of a cell with a number
STYLE = (files("analysis.page") / "style.css").read_text(encoding="utf-8")
# Later scripts use earlier ones.
SCRIPTS = ("elements", "packed", "links", "theme", "figures", "tables", "folds", "freshness", "start")
# With this policy, the browser itself refuses to load anything.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
# As `section` writes it.
HEADING = re.compile(r'<section id="([\w-]+)"><details open><summary><h2>(.*?)</h2>')


def anchor_name(text: str) -> str:
    """Return a text as a link's name: small letters, digits and hyphens.

    >>> anchor_name("Beside RSE/table6")
    'beside-rse-table6'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def section(heading: str, *parts: str, name: str = "") -> str:
    """Return a foldable section of HTML parts, with the anchor `section-NAME`."""
    anchor = f"section-{name or anchor_name(heading)}"
    opening = f'<section id="{anchor}"><details open><summary><h2>{escape(heading)}</h2></summary>'
    return opening + '<div class="inside">\n' + "\n".join(parts) + "</div></details></section>"


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph of plain text, or "" for none; `kind` is a CSS class."""
    if not text:
        return ""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def link(anchor: str, text: str) -> str:
    """Return a link to an anchor of the page, or to a file beside it."""
    return f'<a href="{escape(anchor)}">{escape(text)}</a>'


def facts(entries: Mapping[str, str]) -> str:
    """Return a list of names with their HTML; empty entries are left out."""
    rows = [f"<dt>{escape(name)}</dt><dd>{html}</dd>" for name, html in entries.items() if html]
    return f'<dl class="facts">{"".join(rows)}</dl>' if rows else ""


def strip(entries: Mapping[str, str]) -> str:
    """Return figures in a row, each above what it counts; empty ones are left out."""
    parts = [
        f"<div><dd>{escape(value)}</dd><dt>{escape(name)}</dt></div>"
        for name, value in entries.items()
        if value
    ]
    return f'<dl class="strip">{"".join(parts)}</dl>' if parts else ""


def folded(summary: str, *parts: str, is_open: bool = False, kind: str = "") -> str:
    """Return parts that a reader can unfold; `kind` is a CSS class."""
    state = " open" if is_open else ""
    return f"<details{_attribute('class', kind)}{state}><summary>{escape(summary)}</summary>{''.join(parts)}</details>"


def how_to_read(text: str) -> str:
    """Return an explanation that a reader can unfold; "" for none."""
    return folded("How to read this", paragraph(text)) if text else ""


def grid(parts: Sequence[str], *, wide: bool = False) -> str:
    """Return parts side by side as space permits; at most two if `wide`."""
    kind = "grid wide" if wide else "grid"
    return f'<div class="{kind}">' + "".join(f"<div>{part}</div>" for part in parts) + "</div>"


def embedded(content: Any) -> str:
    """Return JSON that is safe inside a script element, whatever its texts."""
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def script(name: str, text: str, kind: str = JSON) -> str:
    """Return a script element of this class; a large text is packed.

    gzip and base64, which scripts/packed.js undoes.
    """
    if len(text) < LARGE:
        return f'<script type="{kind}" class="{name}">{text}</script>'
    packed = b64encode(compress(text.encode(), compresslevel=6, mtime=0)).decode()
    return f'<script type="application/gzip" class="{name}" data-type="{kind}">{packed}</script>'


def unpacked(html: str) -> str:
    """Return a page with its packed content as the browser sees it."""
    return PACKED.sub(_as_written, html)


def _as_written(found: re.Match[str]) -> str:
    name, kind, packed = found.groups()
    return f'<script type="{kind}" class="{name}">{decompress(b64decode(packed)).decode()}</script>'


def figure(drawing: go.Figure, name: str, data: pd.DataFrame | None = None) -> str:
    """Return a figure that fills its container.

    `name` is unique on the page, for anchor and downloads. `data` is offered as its numbers, by default the
    coordinates.
    """
    content = drawing.to_plotly_json()
    content["layout"].pop("template", None)  # the page has one of its own, for light and dark
    written = to_json_plotly({key: content[key] for key in ("data", "layout")}).replace("<", "\\u003c")
    height = content["layout"].get("height", DEFAULT_HEIGHT)
    csv = {} if data is None else {"csv": csv_text(data, float_format=DIGITS)}
    numbers = script("numbers", embedded(csv)) if csv else ""
    return (
        f'<figure class="figure" id="figure-{name}"><div id="{name}" class="plot" style="height:{height}px"></div>'
        f"{script('drawing', written)}{numbers}</figure>"
    )


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


def page(title: str, sections: Sequence[str], style: str = "", reload_s: int = 0) -> str:
    """Return a document, which reloads itself every `reload_s` seconds (0: never)."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    fresh = f' data-reload="{reload_s}" data-written="{now}"' if reload_s else ""
    body = "\n".join(sections)
    plotly = packed_plotly() if 'class="plot"' in body else ""
    return (
        f'<!DOCTYPE html>\n<html lang="en"{fresh}><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{escape(title)}</title>'
        f"<style>{STYLE}{style}</style></head>\n<body>\n"
        f'<a class="skip" href="#main">Skip to the report</a>\n<div class="frame">{contents_list(body)}\n'
        f'<main id="main" tabindex="-1"><div class="controls"></div>\n{body}\n</main></div>\n'
        f"{plotly}<script>{scripts()}</script></body></html>\n"
    )


@cache
def packed_plotly() -> str:
    """Return plotly.js, packed: 1.9 MB instead of 4.8."""
    return script("library", get_plotlyjs(), "text/javascript")


def contents_list(body: str) -> str:
    """Return links to the sections of a page; "" for fewer than two."""
    found = HEADING.findall(body)
    if len(found) < 2:
        return ""
    items = "".join(f'<li><a href="#{anchor}">{text}</a></li>' for anchor, text in found)
    listing = f"<details open><summary>Contents</summary><ol>{items}</ol></details>"
    return f'<nav class="contents" aria-label="Contents">{listing}</nav>'


def scripts() -> str:
    """Return the page's JavaScript, in its own scope."""
    folder = files("analysis.page") / "scripts"
    parts = [(folder / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    return "\n".join(["(() => {", "'use strict';", *parts, "})();"])


def write(path: Path, html: str) -> Path:
    """Write a document atomically, so that readers see either the old or the new one."""
    return write_whole(path, html)
