"""Blocks of a page besides tables and figures: sections, folds, grids."""

import re
from collections.abc import Mapping, Sequence
from html import escape


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


def folded(summary: str, *parts: str, is_open: bool = False) -> str:
    """Return parts that a reader can unfold."""
    state = " open" if is_open else ""
    return f"<details{state}><summary>{escape(summary)}</summary>{''.join(parts)}</details>"


def grid(parts: Sequence[str], *, wide: bool = False) -> str:
    """Return parts side by side as space permits; at most two if `wide`."""
    kind = "grid wide" if wide else "grid"
    return f'<div class="{kind}">' + "".join(f"<div>{part}</div>" for part in parts) + "</div>"
