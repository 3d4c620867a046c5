"""Sections that compare rows: with the baseline, the paper, each other, new pairs."""

import pandas as pd

from analysis import comparison_table, page
from analysis.answer import effects_remarks, family_table, planned_notes
from analysis.axis_pairs import axis_pairs, pairs_answer, pairs_table, row_pairs
from analysis.comparison import Comparison
from analysis.contents import BASE, Contents
from analysis.figures.forest import decisions_data, draw_decisions, draw_forest, family_forest_data
from analysis.figures.lines import draw_heat, interactions_data
from analysis.formats import counted, decimals_of, join_words, show_signed, show_value
from analysis.scores import result_scores
from analysis.sections.account import flat
from analysis.sections.results import differences_figure
from rse_study.results.comparing.item_contrasts import NOT_KEPT, crossed_frame, items_that_moved
from rse_study.results.statistics import Interval

LEGEND = (
    "Each row minus the baseline, paired by seed. The interval alone decides the verdict: same if it lies within the"
    ' margin (even if it excludes 0), better or worse if it excludes 0, otherwise undecided. "All columns" adds '
    "statistics that decide nothing: the exact sign-flip p, alone and adjusted for all rows (Holm), Hedges' g, and "
    "the seeds with which the row is better."
)
DETAILS = (comparison_table.EXACT, comparison_table.HOLM, "g", comparison_table.BETTER)
ROOMY = ("SD", "seeds", "group")
PAIRS = (
    "Differences on the objective, paired by seed, of all rows, or of an axis's values (means over rows that differ "
    "in nothing else). Intervals and p (Holm) hold for all pairs of a table, so they are wider than above."
)
EFFECTS = (
    "Each effect is estimated from all rows of the design, seed by seed: for a factor, the mean of the rows at its "
    "second level minus that at its first; for a pair, half the change that the second factor makes to the effect of"
    " the first. Intervals and p (Holm) hold for all effects at once. Interactions of three or more factors are "
    "assumed to be zero."
)
PLANNED = (
    "Contrasts that the study's file names: weighted sums of rows, paired by seed. They are one family: intervals and "
    "p (Holm) hold for all of a measure at once. What was entered or changed after there were results says so."
)
MAP = "Main effects on the diagonal, pairs beside it, on the objective. Fields that share a contrast show one sum."
NEW_ITEMS = (
    "Two 95% intervals of each difference, for all rows of a measure at once: one for new seeds on the very pairs or"
    " inputs that were scored, and one for new seeds and new pairs or inputs of the same kind, by the crossed "
    "bootstrap, which resamples both. The second tends to be too wide rather than too narrow."
)
MOVED = (
    "The largest mean changes over seeds, by the index of the item among those that were scored (from 0). An input "
    "changes by points, and a pair by the percentage of the pairs that its cosine overtakes, because Spearman depends "
    "on ranks alone."
)
MISSING = (
    "Cells of earlier versions, and of studies with keep_items: false, have none, nor do scores that are neither a "
    "mean nor a Spearman correlation over items. Their intervals are about the scored items alone."
)


def compared(contents: Contents, comparison: Comparison) -> str:
    """Return section "Compared"; "" without a baseline and a paper's table."""
    if not comparison.baseline and not comparison.table:
        return ""
    table = comparison_table.rows_table(comparison, contents.decimals)
    whose = f" The paper's numbers are those of {comparison.table}." if comparison.printed else ""
    said_above = (
        comparison.criterion_text,
        comparison_table.suggestive_text(comparison.compared),
        comparison_table.resolution_text(comparison),
    )
    num_fixed = len(comparison.fixed)
    classes = ["baseline"] * num_fixed + [""] * (len(table) - num_fixed)
    rows = page.table(table, classes, "long", "compared", (), DETAILS, ROOMY)
    parts = [rows]
    if comparison.baseline:
        beside = {"minus": comparison.baseline, "printed": comparison.printed}
        parts.insert(0, differences_figure(contents, result_scores(contents), "differences", **beside))
    return page.section(
        "Compared",
        *parts,
        page.how_to_read(LEGEND + whose),
        *(page.paragraph(text) for text in comparison_table.remarks(comparison) if text not in said_above),
        rows_settings(contents),
        claims(comparison, contents.decimals),
    )


def rows_settings(contents: Contents) -> str:
    """Return what each named row sets, to be compared two at a time; "" of fewer rows."""
    rows = contents.study.settings.grid.rows
    if len(rows) < 2:
        return ""
    shown = [
        {"row": row} | {name: show_value(value) for name, value in flat(own).items()}
        for row, own in rows.items()
    ]
    table = page.table(pd.DataFrame(shown, dtype=object).fillna(""), kind="long pick", name="settings")
    return page.folded("Settings of each row (tick two to compare them)", table)


def decisions(contents: Contents) -> str:
    """Return section "Until decided"; "" for listed seeds and before any cell."""
    rows = contents.search.rows
    if rows is None or not rows.courses:
        return ""
    courses, bounds, frame = rows.courses.values(), rows.bounds, decisions_data(contents, rows)
    num_decided = sum(one.verdict != "undecided" for one in courses)
    num_ran, most = sum(map(len, rows.values.values())), rows.num_rows * bounds.at_most
    are = "is" if num_decided == 1 else "are"
    is_grid = contents.study.kind == "grid"
    noun, beside = ("row", "the baseline") if is_grid else ("confirmed trial", f"the {BASE}")
    told = (
        f"{num_decided} of {counted(len(courses), noun)} {are} decided. Every {noun} gets "
        f"{bounds.at_least} seeds, and more, up to {bounds.at_most}, until its confidence sequence against "
        f"{beside} decides on {contents.label}. So far this took {num_ran} cells; {bounds.at_most} seeds for every "
        f"{noun} would take {most}. Means over different seeds are not comparable, but the paired differences are."
    )
    parts = [page.paragraph(told)]
    if len(frame):
        parts.append(page.figure(draw_decisions(frame, rows.margin, contents.decimals), "decisions", frame))
    return page.section("Until decided", *parts)


def each_pair(contents: Contents, comparison: Comparison) -> str:
    """Return section "Each pair"; "" without few enough rows or values."""
    found = row_pairs(contents, comparison.scores)
    if not comparison.effects.factors:  # two levels, whose means over the others are effects
        found += axis_pairs(contents, comparison.scores)
    parts = []
    for number, pairs in enumerate(found):
        parts += [
            f"<h3>{page.escape(pairs.axis or 'Rows')}: each pair</h3>",
            page.paragraph(pairs_answer(pairs)),
            page.table(pairs_table(pairs), kind="long", name=f"pairs-{number}", extra=DETAILS),
        ]
    return page.section("Each pair", *parts, page.how_to_read(PAIRS)) if found else ""


def claims(comparison: Comparison, decimals: int) -> str:
    """Return the paper's claims with their verdicts."""
    if not comparison.judged:
        return ""
    heading = f"<h3>{counted(len(comparison.judged), 'claim')} of the paper</h3>"
    return heading + page.table(
        comparison_table.claims_table(comparison, decimals), kind="plain", name="claims"
    )


def factors(contents: Contents, comparison: Comparison) -> str:
    """Return section "Factors"; "" without a factorial design."""
    found, drawn = comparison.effects, []
    if not found.factors:
        return ""
    if len(found.compared):
        forest, pairs = family_forest_data(found, contents.decimals_by_measure), interactions_data(found)
        label = f"effect on {contents.label}"
        heat = draw_heat(pairs, ("factor", "factor"), label, contents.decimals, mid=0.0)
        table = page.table(family_table(found, contents.decimals), kind="long", name="effects")
        drawn = [
            page.figure(draw_forest(forest), "effects-forest", forest),
            table,
            page.figure(heat, "interactions", pairs),
            page.how_to_read(MAP),
        ]
    notes = map(page.paragraph, effects_remarks(found))
    return page.section("Factors", *drawn[:2], *notes, page.how_to_read(EFFECTS), *drawn[2:])


def planned(contents: Contents, comparison: Comparison) -> str:
    """Return section "Planned contrasts"; "" before any can be compared."""
    found = comparison.planned
    if not len(found.compared):
        return ""
    forest = family_forest_data(found, contents.decimals_by_measure)
    table = page.table(family_table(found, contents.decimals), kind="long", name="planned", extra=DETAILS)
    rule = comparison.scores.criterion.sentence(len(found.compared), "contrast")
    notes = map(page.paragraph, (rule, *planned_notes(found)))
    return page.section(
        "Planned contrasts",
        page.figure(draw_forest(forest), "planned", forest),
        table,
        *notes,
        page.how_to_read(PLANNED),
    )


def items(contents: Contents) -> str:
    """Return section "New pairs"; "" where no interval for new items exists."""
    crossed = crossed_frame(contents.items)
    if crossed.empty or crossed["crossed_low"].isna().all():
        return ""
    table = page.table(crossed_table(crossed), kind="long", name="new-pairs")
    parts = [table, page.paragraph(missing_text(crossed)), page.how_to_read(NEW_ITEMS)]
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
    return "" if pd.isna(low) else comparison_table.show_interval(Interval(low, high), decimals)
