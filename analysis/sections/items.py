"""The section about new pairs: intervals for new items, and the items that moved."""

import pandas as pd

from analysis import page
from analysis.comparison_table import show_interval
from analysis.formats import decimals_of, show_number, show_signed
from analysis.phrases import counted, join_words
from rse_study.results.item_contrasts import MeasuredItems, crossed_frame, moved_frame
from rse_study.results.statistics import Interval

SEEDS, CROSSED = "new seeds on these items", "new seeds and new items"
LEGEND = (
    "Each row minus {minus}, with two intervals (95 %, all rows of a measure at once): for new training seeds on the "
    "very pairs or inputs that were scored, and for new seeds and other pairs or inputs of the kind, by the crossed "
    "bootstrap, which resamples both, the same items for both rows. The second tends to be too wide, never too narrow."
)
MOVED = (
    "Items with the largest mean change over seeds, by their place in the data, from 0. Of a pair the share of pairs "
    "with a smaller cosine is shown, in per cent, as Spearman sees ranks alone."
)


def items(measured: list[MeasuredItems]) -> str:
    """Return section "New pairs"; "" where nothing is compared."""
    crossed = crossed_frame(measured)
    if crossed.empty:
        return ""
    moved = moved_frame(measured)
    listing = [page.paragraph(MOVED), page.table(moved_table(moved), name="moved")] if len(moved) else []
    return page.section(
        "New pairs",
        page.paragraph(LEGEND.format(minus=crossed["minus"].iloc[0])),
        page.table(crossed_table(crossed), kind="long", name="new-pairs"),
        page.paragraph(missing_text(crossed)),
        page.folded("The items that moved most", *listing) if listing else "",
    )


def crossed_table(crossed: pd.DataFrame) -> pd.DataFrame:
    """Return both intervals as text, a row per measure and row."""
    rows = [
        {
            "measure": one.measure,
            "row": one.row,
            "minus": "" if pd.isna(one.mean) else show_signed(one.mean, decimals_of(one.metric, fine=4)),
            SEEDS: _interval(one.seeds_low, one.seeds_high, one.metric),
            CROSSED: _interval(one.crossed_low, one.crossed_high, one.metric) or one.note,
            "seeds": str(one.num_seeds),
            "items": str(one.num_items or ""),
        }
        for one in crossed.itertuples()
    ]
    minus = crossed["minus"].iloc[0]
    return pd.DataFrame(rows, dtype=object).rename(columns={"minus": f"minus {minus}"})


def missing_text(crossed: pd.DataFrame) -> str:
    """Say for which measures item scores were not kept; "" if all were."""
    without = crossed[crossed["note"] != ""]
    if without.empty:
        return ""
    measures = list(dict.fromkeys(without["measure"]))
    return (
        f"Item scores were not kept for {counted(len(without), 'difference')} on {join_words(measures)}: such an "
        "interval is about these items alone. Cells measured before items were kept, or with keep_items: false, have "
        "none, and neither have figures that are no mean over items."
    )


def moved_table(moved: pd.DataFrame) -> pd.DataFrame:
    """Return the items that moved as text."""
    shown = moved[["measure", "row", "item"]].astype(str)
    for name in ("gold", "before", "after"):
        shown[name] = [show_number(value, 2) for value in moved[name]]
    return shown.assign(change=[show_signed(value, 2) for value in moved["change"]])


def _interval(low: float, high: float, metric: str) -> str:
    return "" if pd.isna(low) else show_interval(Interval(low, high), decimals_of(metric, fine=4))
