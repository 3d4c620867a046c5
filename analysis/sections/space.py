"""The sections on a search's space: all axes at once, and two at a time."""

import pandas as pd

from analysis import page
from analysis.contents import Contents
from analysis.figures.contour import LEAST, MAX_POINTS, contour_data, draw_contour
from analysis.figures.parallel import draw_parallel, parallel_data
from analysis.figures.rulers import positions_data, rulers_of

ALL_AXES = (
    "Each line is a complete trial: it passes through its value on each axis and ends at its score. Click in the "
    "legend to hide a group. Where the best lines converge, the search has settled the axis; where they spread, it "
    "has not."
)
SOME_AXES = (
    "Some axes belong to some trials only: a line that crosses an axis without a dot has no value there."
)
TWO_AXES = (
    "Choose two axes above the map. Dots are the complete trials. Between them, the score is interpolated (trials "
    "that are close together are averaged first); outside of them, and between choices, nothing is known. All other "
    "axes differ from dot to dot, so a peak may be due to another axis."
)


def all_axes(contents: Contents, table: pd.DataFrame) -> str:
    """Return section "All axes at once"; "" before a trial is complete."""
    study = contents.study
    rulers = rulers_of(table, study.axes, study.headings)
    positions = positions_data(table, rulers)
    if positions.empty:
        return ""
    frame = parallel_data(positions, study.objective.direction)
    drawn = draw_parallel(frame, rulers, contents.label, contents.decimals)
    text = f"{ALL_AXES} {SOME_AXES}" if any(axis.when for axis in study.axes) else ALL_AXES
    parts = [page.paragraph(text), page.figure(drawn, "parallel", one_line_each(positions))]
    return page.section("All axes at once", *parts)


def two_axes(contents: Contents, table: pd.DataFrame) -> str:
    """Return section "Two axes at a time"; "" with too few axes or trials."""
    study = contents.study
    rulers = rulers_of(table, study.axes, study.headings)
    positions = positions_data(table, rulers)
    num = positions["trial"].nunique()
    if len(study.axes) < 2 or num < LEAST:
        return ""
    frame = contour_data(positions, by_importance(contents))
    if frame.empty:
        return ""
    few = (
        f"At most {MAX_POINTS} of {num} trials are drawn as dots; the map uses all."
        if num > MAX_POINTS
        else ""
    )
    drawn = draw_contour(frame, rulers, contents.label, contents.decimals)
    parts = [
        page.paragraph(f"{TWO_AXES} {few}".strip()),
        page.figure(drawn, "contour", one_line_each(positions)),
    ]
    return page.section("Two axes at a time", *parts)


def by_importance(contents: Contents) -> list[str]:
    """Return the headings of the axes by importance, but axes of choices last."""
    study = contents.study
    headings = dict(zip((axis.name for axis in study.axes), study.headings, strict=True))
    choices = {axis.name for axis in study.axes if axis.kind == "choice"}
    means = contents.importance.groupby("axis")["value"].mean().sort_values(ascending=False)
    ordered = sorted(means.index, key=lambda axis: axis in choices)
    return [headings[axis] for axis in ordered if axis in headings]


def one_line_each(positions: pd.DataFrame) -> pd.DataFrame:
    """Return a row per trial with its score and values, for the download."""
    columns = ["trial", "objective", "best", "is_base"]
    wide = positions.pivot(index="trial", columns="axis", values="value")
    own = positions.drop_duplicates("trial")[columns].set_index("trial")
    return own.join(wide[list(dict.fromkeys(positions["axis"]))]).reset_index()
