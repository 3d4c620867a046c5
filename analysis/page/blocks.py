"""What stands on a page besides tables and figures: sections, folds, grids."""

import re
from collections.abc import Mapping, Sequence
from html import escape


def anchor_name(text: str) -> str:
    """Return a text as a part of a link's name: small letters, digits and hyphens.

    >>> anchor_name("Beside RSE/table6")
    'beside-rse-table6'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def section(heading: str, *parts: str, name: str = "") -> str:
    """Return a heading and what stands below it, which a reader may fold.

    Parameters
    ----------
    heading
        Plain text.
    parts
        HTML.
    name
        Of its anchor, `section-NAME`; by default the heading's words.
    """
    anchor = f"section-{name or anchor_name(heading)}"
    opening = f'<section id="{anchor}"><details open><summary><h2>{escape(heading)}</h2></summary>'
    return opening + '<div class="inside">\n' + "\n".join(parts) + "</div></details></section>"


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph of plain text, nothing where there is none.

    `kind` is a class of the style.
    """
    if not text:
        return ""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def link(anchor: str, text: str) -> str:
    """Return a link to a place of the page, or of a file beside it."""
    return f'<a href="{escape(anchor)}">{escape(text)}</a>'


def facts(entries: Mapping[str, str]) -> str:
    """Return names with what is known of each, as HTML."""
    rows = [f"<dt>{escape(name)}</dt><dd>{html}</dd>" for name, html in entries.items() if html]
    return f'<dl class="facts">{"".join(rows)}</dl>' if rows else ""


def folded(summary: str, *parts: str, is_open: bool = False) -> str:
    """Return something a reader unfolds."""
    state = " open" if is_open else ""
    return f"<details{state}><summary>{escape(summary)}</summary>{''.join(parts)}</details>"


def grid(parts: Sequence[str], *, wide: bool = False) -> str:
    """Parts side by side where there is room; `wide` ones two at most."""
    kind = "grid wide" if wide else "grid"
    return f'<div class="{kind}">' + "".join(f"<div>{part}</div>" for part in parts) + "</div>"
