"""Figures of a page, with the numbers they show."""

import pandas as pd
import plotly.graph_objects as go
from plotly.io.json import to_json_plotly

from analysis.page.embedding import embedded, script
from rse_study.results.export import csv_text

DEFAULT_HEIGHT = 450  # pixels, as plotly.js has it
DIGITS = "%.8g"  # of numbers that a reader downloads: more than any figure shows, and half the bytes


def figure(drawing: go.Figure, name: str, data: pd.DataFrame | None = None) -> str:
    """Return a figure that fills its container.

    `name` is unique on the page, for anchor and downloads. `data` is offered as its numbers, by default the
    coordinates.
    """
    content = drawing.to_plotly_json()
    content["layout"].pop("template", None)  # the page has one of its own, for light and dark
    written = to_json_plotly({key: content[key] for key in ("data", "layout")}).replace("<", "\\u003c")
    height = content["layout"].get("height", DEFAULT_HEIGHT)
    return (
        f'<figure class="figure" id="figure-{name}"><div id="{name}" class="plot" style="height:{height}px"></div>'
        f"{script('drawing', written)}{_numbers(data)}</figure>"
    )


def _numbers(data: pd.DataFrame | None) -> str:
    if data is None:
        return ""
    return script("numbers", embedded({"csv": csv_text(data, float_format=DIGITS)}))
