"""What all figures share: colours and a quiet layout.

The colours survive colour blindness and print.
"""

from html import escape
from textwrap import wrap

import plotly.graph_objects as go

INK, GREY, FAINT, BLUE, ORANGE = "#1f2328", "#6e7781", "#b6bec7", "#0b62c4", "#c4560b"
DASHES = {"token_overlap": "dot", "untrained": "dash", "start": "dashdot"}
SEED_COLOURS = ("#0b62c4", "#c4560b", "#1a7f5a", "#8250df", "#b3246b", "#57606a")
SEED_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star")


def plain(figure: go.Figure, height: int) -> go.Figure:
    """White ground, thin grid, legend above the plot, as wide as its place allows."""
    figure.update_layout(
        template="plotly_white",
        height=height,
        autosize=True,
        font={"family": "system-ui, sans-serif", "size": 13, "color": INK},
        margin={"l": 56, "r": 16, "t": 16, "b": 48},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0},
        hovermode="closest",
    )
    figure.update_xaxes(automargin=True, zeroline=False)
    figure.update_yaxes(automargin=True, zeroline=False)
    return figure


def label_text(text: str, width: int = 22) -> str:
    """A name on an axis: broken into short lines, never read as markup."""
    return "<br>".join(escape(line, quote=False) for line in wrap(text, width) or [""])
