"""Final scores of confirmed trials or of a grid's rows."""

import pandas as pd

from analysis import page
from analysis.contents import Contents
from analysis.figures.dots import dots_data, draw_dots
from analysis.scores import is_higher_better, summarise

MAX_ROWS = 80  # of a figure with a line per row
NO_FIGURE = f"No figure: it would have more than {MAX_ROWS} rows."


def dots(contents: Contents, frame: pd.DataFrame, name: str) -> str:
    """Return a figure per measure that has a value; `name` begins the figures' ids."""
    decimals = contents.decimals_by_measure
    measures = [
        m
        for m, part in frame.groupby("measure", sort=False)
        if part.loc[part["kind"] != "baseline", "value"].notna().any()
    ]
    if frame["position"].nunique() > MAX_ROWS:
        return page.paragraph(NO_FIGURE)
    frames = [dots_data(frame, measure) for measure in measures]
    drawn = [
        page.figure(draw_dots(part, measure, decimals[measure]), f"{name}-{number}", part)
        for number, (measure, part) in enumerate(zip(measures, frames, strict=True))
    ]
    return page.grid(drawn, wide=True) if drawn else ""


def row_classes(frame: pd.DataFrame) -> list[str]:
    """Return the CSS class of each row: baselines are grey."""
    kinds = frame.drop_duplicates("position").sort_values("position")["kind"]
    return ["baseline" if kind == "baseline" else "" for kind in kinds]


def above_text(contents: Contents, frame: pd.DataFrame) -> str:
    """Say how many rows beat each baseline, on the first measure that has one."""
    known, rows = (
        frame[(frame["kind"] == "baseline") == wanted].dropna(subset="value") for wanted in (True, False)
    )
    if known.empty or rows.empty:
        return ""
    measure = known["measure"].iloc[0]
    table = summarise(rows[rows["measure"] == measure])
    sign = 1 if is_higher_better(contents, measure) else -1
    texts = [
        f"{int((sign * (table['mean'] - value) > 0).sum())} of {len(table)} than {row}"
        for row, value in known.loc[known["measure"] == measure, ["row", "value"]].values
    ]
    return f"On {measure}, rows whose mean is better: {', '.join(texts)}."
