"""A whole document: head, style, table of contents, scripts, plotly.js."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path

from plotly.offline import get_plotlyjs

from analysis.page.embedding import script
from rse_study.results.files.atomic import write_whole

STYLE = (files("analysis.page") / "style.css").read_text(encoding="utf-8")
SCRIPTS = (
    "elements",
    "packed",
    "links",
    "theme",
    "figures",
    "tables",
    "folds",
    "freshness",
    "start",
)  # later ones use earlier ones
# With this policy, the browser itself refuses to load anything.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
HEADING = re.compile(
    r'<section id="([\w-]+)"><details open><summary><h2>(.*?)</h2>'
)  # as `blocks.section` writes it


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
