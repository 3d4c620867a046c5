"""Final scores of confirmed trials or of a grid's rows."""

from typing import Any

import pandas as pd

from analysis import page
from analysis.contents import Contents
from analysis.figures.forest import differences_data, draw_forest
from analysis.formats import show_signed
from analysis.phrases import join_words
from analysis.scores import degenerate_note, is_higher_better, show_scores
from rse_study.results.comparing.margin import margin_of

MAX_ROWS = 80  # of a figure with a line per row
NO_FIGURE = f"No figure: it would have more than {MAX_ROWS} rows."
FIGURE = (
    "Mean differences from {}, paired by seed, with all measures on one scale. A filled mark means that the "
    "interval, for all rows of a measure at once, excludes 0. The grey band is the margin."
)


def scores_table(contents: Contents, frame: pd.DataFrame, name: str) -> str:
    """Return a table of `scores.scores`, whose columns of seeds a reader can show."""
    if frame["value"].isna().all():
        return ""
    shown = show_scores(frame, contents.decimals_by_measure, every_seed=dict.fromkeys(frame["measure"]))
    seeds = {name for _, name in shown.columns if name.startswith("seed ")}
    table = page.table(shown, row_classes(frame), "long", name, extra=seeds)
    return table + page.paragraph(degenerate_note(frame))


def differences_figure(contents: Contents, frame: pd.DataFrame, name: str, **beside: Any) -> str:
    """Return the figure of differences; "" without a row to compare with."""
    if frame["row"].nunique() > MAX_ROWS:
        return page.paragraph(NO_FIGURE)
    shown = differences_data(contents, frame, **beside)
    if shown.empty:
        return ""
    told = FIGURE.format(shown["minus"].iloc[0])
    of = next(iter(shown.loc[shown["measure"] == contents.label, "view"]), "")
    drawn = page.figure(draw_forest(shown, margin_of(contents.study), of), name, shown)
    return page.paragraph(told) + drawn + page.paragraph(both_ways_text(contents, shown))


def both_ways_text(contents: Contents, shown: pd.DataFrame) -> str:
    """Name the rows that are better on one measure and worse on another."""
    way = shown["measure"].map(lambda measure: 1 if is_higher_better(contents, measure) else -1)
    sure = shown.assign(gain=way * shown["difference"])[shown["low"] * shown["high"] > 0]
    both = sure.groupby("row", sort=False)["gain"].agg(["min", "max"]).query("min < 0 < max").index
    texts = []
    for row in both:
        part = sure[sure["row"] == row].sort_values("gain").iloc[[-1, 0]]
        ends = (f"{show_signed(one.difference, one.decimals)} on {one.measure}" for one in part.itertuples())
        texts.append(f"{row} ({', '.join(ends)})")
    return f"Better on one measure and worse on another: {join_words(texts)}." if texts else ""


def row_classes(frame: pd.DataFrame) -> list[str]:
    """Return the CSS class of each row: baselines are grey."""
    kinds = frame.drop_duplicates("position").sort_values("position")["kind"]
    return ["baseline" if kind == "baseline" else "" for kind in kinds]
