"""What all figures share: colours that survive colour blindness and print, and a quiet layout."""

import plotly.graph_objects as go

INK, GREY, BLUE, ORANGE = "#1f2328", "#8c959f", "#0b62c4", "#c4560b"
DASHES = {"token_overlap": "dot", "untrained": "dash", "start": "dashdot"}


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
