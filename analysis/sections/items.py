"""The section about new pairs: intervals for new items, and the items that moved."""

import pandas as pd

from analysis import page
from analysis.comparison_table import show_interval
from analysis.contents import Contents
from analysis.formats import decimals_of, show_signed
from analysis.phrases import counted, join_words
from rse_study.results.comparing.item_contrasts import NOT_KEPT, crossed_frame, items_that_moved
from rse_study.results.statistics import Interval

LEGEND = (
    "Two 95% intervals of each difference, for all rows of a measure at once: one for new seeds on the very pairs or"
    " inputs that were scored, and one for new seeds and new pairs or inputs of the same kind, by the crossed "
    "bootstrap, which resamples both. The second tends to be too wide rather than too narrow."
)
MOVED = (
    "The largest mean changes over seeds, in points, by the index of the item among those that were scored (from 0). A "
    "pair changes by the percentage of the pairs that its cosine overtakes, because Spearman depends on ranks alone."
)
MISSING = (
    "Cells of earlier versions, and of studies with keep_items: false, have none, nor do scores that are neither a "
    "mean nor a Spearman correlation over items. Their intervals are about the scored items alone."
)


def items(contents: Contents) -> str:
    """Return section "New pairs"; "" where no interval for new items exists."""
    crossed = crossed_frame(contents.items)
    if crossed.empty or crossed["crossed_low"].isna().all():
        return ""
    table = page.table(crossed_table(crossed), kind="long", name="new-pairs")
    parts = [page.paragraph(LEGEND), table, page.paragraph(missing_text(crossed))]
    moved = [
        {"measure": one.measure, "row": row, "items": ", ".join(f"{n} ({v:+.0f})" for n, v in change.items())}
        for one in contents.items
        for row in one.table.index.drop(one.minus)
        if len(change := items_that_moved(one, row))
    ]
    listing = page.table(pd.DataFrame(moved, dtype=object), kind="plain", name="moved")
    parts += [page.folded("Items that moved", page.paragraph(MOVED), listing)] if moved else []
    return page.section("New pairs", *parts)


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
