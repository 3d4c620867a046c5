"""The HTML of a report: one file, nothing loaded from anywhere."""

from collections.abc import Sequence
from html import escape

import pandas as pd
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1180px; padding: 1.5rem 1rem 4rem; background: #fff; color: #1f2328;
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 2.25rem 0 .5rem; }
p { max-width: 46rem; margin: .5rem 0; }
.question { font-size: 1.1rem; color: #424a53; }
.note { border-left: 4px solid #c4560b; background: #fff6ee; padding: .6rem .9rem; max-width: none; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid #d8dee4; text-align: right; white-space: nowrap; }
thead th { white-space: normal; vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; }
thead th { border-bottom: 2px solid #8c959f; }
tr.baseline { color: #57606a; background: #f6f8fa; }
tr.best td { font-weight: 650; background: #fff1e3; }
table.plain th, table.plain td { text-align: left; white-space: normal; overflow-wrap: anywhere; vertical-align: top; }
table.plain th:first-child, table.plain td:first-child { white-space: nowrap; overflow-wrap: normal; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 340px), 1fr)); gap: .5rem 1rem; }
.grid > *, .figure { min-width: 0; overflow: hidden; }
footer { margin-top: 3rem; color: #57606a; font-size: .85rem; }
"""
# The browser itself then refuses to load anything.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:"


def page(title: str, sections: Sequence[str]) -> str:
    """A whole document with plotly.js inside."""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style><script>{get_plotlyjs()}</script></head>\n<body>\n"
        + "\n".join(sections)
        + "\n</body></html>\n"
    )


def section(heading: str, *parts: str) -> str:
    """A heading and what stands below it."""
    return f"<section><h2>{escape(heading)}</h2>\n" + "\n".join(parts) + "</section>"


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of plain text; `kind` is a class of the style."""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def table(frame: pd.DataFrame, row_classes: Sequence[str] = (), kind: str = "") -> str:
    """A frame of strings; wide ones scroll inside their own box."""
    classes = row_classes or [""] * len(frame)
    head = "".join(f"<th>{escape(str(name))}</th>" for name in frame.columns)
    rows = [
        f'<tr class="{name}">' + "".join(f"<td>{escape(str(value))}</td>" for value in row) + "</tr>"
        for name, row in zip(classes, frame.itertuples(index=False), strict=True)
    ]
    body = "\n".join(rows)
    opening = f'<div class="scroll"><table class="{kind}"><thead><tr>{head}</tr></thead>'
    return f"{opening}<tbody>\n{body}\n</tbody></table></div>"


def figure(drawing: go.Figure, name: str) -> str:
    """A figure that fills its place; `name` is its element's id, the same in every run."""
    config = {"responsive": True, "displaylogo": False, "displayModeBar": False}
    html = drawing.to_html(
        full_html=False, include_plotlyjs=False, include_mathjax=False, div_id=name, config=config
    )
    return f'<div class="figure">{html}</div>'


def grid(parts: Sequence[str]) -> str:
    """Parts side by side where there is room."""
    return '<div class="grid">' + "".join(f"<div>{part}</div>" for part in parts) + "</div>"
