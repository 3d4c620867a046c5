"""Several measures along one axis of a grid, as in figure 2 of L2P-CSR."""

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from analysis.contents import Contents
from analysis.figures.lines import add_series, is_number
from analysis.figures.scales import scale_of, x_axis
from analysis.figures.style import SEED_COLOURS, label_text, legend_below, plain
from analysis.scores import scores
from rse_study.results.study_record import AxisRecord

COLUMNS = ["measure", "x", "seed", "value", "mean"]
MAX_MEASURES = len(SEED_COLOURS)


def measures_data(contents: Contents, axis: AxisRecord) -> pd.DataFrame:
    """Return measure, x, seed, value, mean (over seeds) of a grid's complete cells.

    Empty unless the grid has this one axis, with two numeric values or more, and two to six measures have values (for
    one measure `lines` shows the same). Named rows are left out.
    """
    cells = contents.stage("grid")
    cells = cells[cells["label"] == ""]
    values = {trial: proposal.get(axis.name) for trial, proposal in cells[["trial", "proposal"]].values}
    if len(contents.study.axes) != 1 or not values or not all(is_number(value) for value in values.values()):
        return pd.DataFrame(columns=COLUMNS)
    frame = scores(contents, cells).dropna(subset=["value", "trial"])
    frame = frame.assign(x=[float(values[trial]) for trial in frame["trial"]])
    num = frame["measure"].nunique()
    if frame["x"].nunique() < 2 or not 2 <= num <= MAX_MEASURES:
        return pd.DataFrame(columns=COLUMNS)
    mean = frame.groupby(["measure", "x"])["value"].transform("mean")
    return frame.assign(mean=mean)[COLUMNS].reset_index(drop=True)


def draw_measures(
    frame: pd.DataFrame, heading: str, decimals: Mapping[str, int], is_log: bool = False
) -> go.Figure:
    """Draw a line through the means of each measure, and small dots for the seeds."""
    figure, scale = go.Figure(), scale_of(frame["x"], is_log)
    for number, (measure, part) in enumerate(frame.groupby("measure", sort=False)):
        name, places = label_text(str(measure), 36), decimals.get(str(measure), 2)
        add_series(figure, part, scale, number, places, name=name, group=str(measure), told=f"{name}, ")
    figure.update_xaxes(title=label_text(heading, 40), **x_axis(frame["x"], scale))
    figure.update_yaxes(nticks=7)
    return legend_below(plain(figure, height=380))
