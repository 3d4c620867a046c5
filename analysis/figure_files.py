"""A page's figures as image files, drawn by a browser from the JSON in the page."""

import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import plotly.graph_objects as go
import plotly.io as pio

from analysis.figures.style import white_template
from analysis.page import unpacked
from rse_study.errors import InputError, first_line

ImageKind = Literal["png", "svg"]
WIDTH, DEFAULT_HEIGHT = 900, 450  # pixels
SCALE = 2  # of a PNG: sharp in print
DRAWING = re.compile(
    r'<figure class="figure" id="figure-(?P<name>[^"]+)">.*?'
    r'<script type="application/json" class="drawing">(?P<json>.*?)</script>',
    re.DOTALL,
)  # as `page.figure` writes it


def figures_in(html: str) -> dict[str, go.Figure]:
    """Return the figures of a page by name, on a white background."""
    return {
        found["name"]: go.Figure(json.loads(found["json"])).update_layout(template=white_template())
        for found in DRAWING.finditer(unpacked(html))
    }


def write_figures(html: str, folder: Path, kind: ImageKind) -> list[Path]:
    """Write a page's figures into a folder; raise InputError without a browser."""
    if find_spec("kaleido") is None:
        remedy = "Install it: pip install 'rse-study[images]'"
        raise InputError("kaleido is not installed", where="--figures", rule="it draws them", remedy=remedy)
    figures = figures_in(html)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.{kind}" for name in figures]
    heights = [figure.layout.height or DEFAULT_HEIGHT for figure in figures.values()]
    scale = SCALE if kind == "png" else 1
    if figures:
        _draw(list(figures.values()), paths, heights, scale)
    _require_drawn(paths)
    return paths


def _draw(figures: list[go.Figure], paths: list[Path], heights: list[int], scale: int) -> None:
    try:
        pio.write_images(fig=figures, file=paths, width=WIDTH, height=heights, scale=scale)
    except RuntimeError as error:  # no browser, or one that does not start
        rule = "a browser draws figures: chromium or chrome"
        remedy = "Install one, or name it in BROWSER_PATH"
        raise InputError(
            f"no figure was drawn: {first_line(error)}", where="--figures", rule=rule, remedy=remedy
        ) from None


def _require_drawn(paths: list[Path]) -> None:
    """Raise InputError for empty or missing files; kaleido does not report them."""
    lacking = [path for path in paths if not path.is_file() or not path.stat().st_size]
    for path in lacking:
        path.unlink(missing_ok=True)
    if lacking:
        names = ", ".join(path.name for path in lacking)
        rule, remedy = "the browser did not draw them", "Try again when the machine is less busy"
        raise InputError(f"not drawn: {names}", where="--figures", rule=rule, remedy=remedy)
