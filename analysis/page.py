"""The HTML of a report: one file, nothing loaded from anywhere."""

from collections.abc import Sequence
from html import escape
from itertools import groupby
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from rse_study.results.atomic import write_whole

STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1180px; padding: 1.5rem 1rem 4rem; background: #fff; color: #1f2328;
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 2.25rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .4rem; }
details { margin: .75rem 0; }
summary { cursor: pointer; }
p { max-width: 46rem; margin: .5rem 0; }
.question { font-size: 1.1rem; color: #424a53; }
.note { border-left: 4px solid #c4560b; background: #fff6ee; padding: .6rem .9rem; max-width: none; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid #d8dee4; text-align: right; white-space: nowrap; }
thead th { white-space: normal; vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; }
thead th { border-bottom: 2px solid #8c959f; }
thead th.short { white-space: nowrap; }
th.group { text-align: center; border-bottom: 1px solid #d8dee4; }
.scroll.long { max-height: 48rem; overflow-y: auto; }
.long thead th { position: sticky; top: 0; background: #fff; }
tr.short { color: #6e7781; }
tr.baseline { color: #57606a; background: #f6f8fa; }
tr.best td { font-weight: 650; background: #fff1e3; }
table.words th, table.words td { text-align: left; }
table.words td:last-child { white-space: normal; min-width: 16rem; }
table.plain th, table.plain td { text-align: left; white-space: normal; vertical-align: top; }
table.plain td:last-child { overflow-wrap: anywhere; min-width: 11rem; }
table.plain th:first-child, table.plain td:first-child { white-space: nowrap; overflow-wrap: normal; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 340px), 1fr)); gap: .5rem 1rem; }
.grid.wide { grid-template-columns: repeat(auto-fill, minmax(min(100%, 460px), 1fr)); }
.grid > *, .figure { min-width: 0; overflow: hidden; }
@media print { .scroll.long { max-height: none; } section { break-inside: avoid-page; } }
footer { margin-top: 3rem; color: #57606a; font-size: .85rem; }
"""
# A figure is drawn while the page is still being read: afterwards, and on paper, its place may have another width.
FIT = """
const fit = () => document.querySelectorAll('.js-plotly-plot').forEach(plot => Plotly.Plots.resize(plot));
addEventListener('load', fit); addEventListener('beforeprint', fit);
"""
SHORT = 12  # characters of a heading that stays in one line
# The browser itself then refuses to load anything.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:"


def page(title: str, sections: Sequence[str], style: str = "") -> str:
    """Return a whole document with plotly.js inside.

    Parameters
    ----------
    title
        Of the document.
    sections
        HTML, in their order.
    style
        Of sections that no other page has.
    """
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{escape(title)}</title>'
        f"<style>{STYLE}{style}</style><script>{get_plotlyjs()}</script></head>\n<body>\n"
        + "\n".join(sections)
        + f"\n<script>{FIT}</script></body></html>\n"
    )


def write(path: Path, html: str) -> Path:
    """Write a document so that a reader sees all of it or what was there before."""
    return write_whole(path, html)


def section(heading: str, *parts: str) -> str:
    """A heading and what stands below it."""
    return f"<section><h2>{escape(heading)}</h2>\n" + "\n".join(parts) + "</section>"


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph of plain text, nothing where there is none.

    `kind` is a class of the style.
    """
    if not text:
        return ""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def table(frame: pd.DataFrame, row_classes: Sequence[str] = (), kind: str = "") -> str:
    """Return a frame of strings as a table; wide ones scroll inside their own box.

    Pairs as columns make two lines of headings.

    Parameters
    ----------
    frame
        The strings.
    row_classes
        A class of the style for each row.
    kind
        A class of the table's.
    """
    classes = row_classes or [""] * len(frame)
    rows = [
        f'<tr class="{name}">' + "".join(f"<td>{escape(str(value))}</td>" for value in row) + "</tr>"
        for name, row in zip(classes, frame.itertuples(index=False), strict=True)
    ]
    body = "\n".join(rows)
    opening = f'<div class="scroll {kind}"><table class="{kind}"><thead>{_head(frame.columns)}</thead>'
    return f"{opening}<tbody>\n{body}\n</tbody></table></div>"


def _head(columns: pd.Index) -> str:
    if not isinstance(columns, pd.MultiIndex):
        return f"<tr>{_headings([str(name) for name in columns])}</tr>"
    groups = [(group, len(list(names))) for group, names in groupby(columns, key=lambda pair: pair[0])]
    upper = "".join(f'<th class="group" colspan="{width}">{escape(group)}</th>' for group, width in groups)
    return f"<tr>{upper}</tr><tr>{_headings([name for _, name in columns])}</tr>"


def _headings(names: Sequence[str]) -> str:
    kinds = [' class="short"' if len(name) <= SHORT else "" for name in names]
    return "".join(f"<th{kind}>{escape(name)}</th>" for kind, name in zip(kinds, names, strict=True))


def folded(summary: str, *parts: str, is_open: bool = False) -> str:
    """Something a reader unfolds."""
    state = " open" if is_open else ""
    return f"<details{state}><summary>{escape(summary)}</summary>{''.join(parts)}</details>"


def figure(drawing: go.Figure, name: str) -> str:
    """Return a figure that fills its place.

    `name` is its element's id, the same in every run.
    """
    config = {"responsive": True, "displaylogo": False, "displayModeBar": False}
    html = drawing.to_html(
        full_html=False, include_plotlyjs=False, include_mathjax=False, div_id=name, config=config
    )
    return f'<div class="figure">{html}</div>'


def grid(parts: Sequence[str], *, wide: bool = False) -> str:
    """Parts side by side where there is room; `wide` ones two at most."""
    kind = "grid wide" if wide else "grid"
    return f'<div class="{kind}">' + "".join(f"<div>{part}</div>" for part in parts) + "</div>"
