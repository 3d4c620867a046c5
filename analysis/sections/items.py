"""The section about new pairs: intervals for new items, and the items that moved."""

import pandas as pd

from analysis import page
from analysis.comparison_table import show_interval
from analysis.contents import Contents
from analysis.formats import decimals_of, show_number, show_signed
from analysis.phrases import counted, join_words
from rse_study.results.item_contrasts import NOT_KEPT, crossed_frame, moved_frame
from rse_study.results.statistics import Interval

LEGEND = (
    "Two 95 % intervals of each difference, all rows of a measure at once: for new seeds on the very pairs or inputs "
    "that were scored, and for new seeds and new pairs or inputs of the kind, by the crossed bootstrap, which resamples "
    "both, the same items for both rows. The second is rather too wide than too narrow."
)
MOVED = (
    "The items with the largest mean change over seeds, by their place among those that were scored, from 0. Of a pair "
    "the per cent of pairs with a smaller cosine is shown, as Spearman sees ranks alone."
)
MISSING = (
    "They are kept since this version, unless a study says keep_items: false, and of figures that are a mean or a "
    "Spearman over items; without them an interval is about these items alone."
)


def items(contents: Contents) -> str:
    """Return section "New pairs"; "" where nothing is compared."""
    crossed, moved = crossed_frame(contents.items), moved_frame(contents.items)
    if crossed.empty:
        return ""
    shown = moved[["measure", "row", "item"]].astype(str)
    shown = shown.assign(**{name: moved[name].map(show_number) for name in ("before", "after")})
    listing = page.table(shown.assign(change=moved["change"].map(show_signed)), name="moved")
    return page.section(
        "New pairs",
        page.paragraph(LEGEND),
        page.table(crossed_table(crossed), kind="long", name="new-pairs"),
        page.paragraph(missing_text(crossed)),
        page.folded("Items that moved", page.paragraph(MOVED), listing) if len(moved) else "",
    )


def crossed_table(crossed: pd.DataFrame) -> pd.DataFrame:
    """Return both intervals of every difference as text."""
    rows = [
        {
            "measure": one.measure,
            "row": one.row,
            f"minus {one.minus}": "" if pd.isna(one.mean) else show_signed(one.mean, decimals),
            "new seeds on these items": _interval(one.seeds_low, one.seeds_high, decimals),
            "new seeds and new items": _interval(one.crossed_low, one.crossed_high, decimals) or one.note,
            "seeds": str(one.num_seeds),
            "items": str(one.num_items or ""),
        }
        for one in crossed.itertuples()
        for decimals in [decimals_of(one.metric, fine=4)]
    ]
    return pd.DataFrame(rows, dtype=object)


def missing_text(crossed: pd.DataFrame) -> str:
    """Say of which measures item scores were not kept; "" if all were."""
    without = crossed[crossed["note"] == NOT_KEPT]
    if without.empty:
        return ""
    on = join_words(dict.fromkeys(without["measure"]))
    return f"Item scores were not kept for {counted(len(without), 'difference')} on {on}. {MISSING}"


def _interval(low: float, high: float, decimals: int) -> str:
    return "" if pd.isna(low) else show_interval(Interval(low, high), decimals)
