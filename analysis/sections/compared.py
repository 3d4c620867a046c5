"""The sections that compare a grid's rows with its baseline and the paper."""

import pandas as pd

from analysis import page
from analysis.axis_pairs import axis_pairs, pairs_answer, pairs_table, row_pairs
from analysis.comparison import Comparison
from analysis.comparison_table import (
    BETTER,
    EXACT,
    HOLM,
    claims_table,
    remarks,
    resolution_text,
    rows_table,
    suggestive_text,
)
from analysis.contents import BASE, Contents
from analysis.figures.forest import decisions_data, draw_decisions
from analysis.formats import show_value
from analysis.phrases import counted
from analysis.scores import result_scores
from analysis.sections.account import flat
from analysis.sections.scores import differences_figure

LEGEND = (
    "Each row minus the baseline, paired by seed. The interval alone decides the verdict: same if it lies within the"
    ' margin (even if it excludes 0), better or worse if it excludes 0, otherwise undecided. "All columns" adds '
    "statistics that decide nothing: the exact sign-flip p, alone and adjusted for all rows (Holm), Hedges' g, and "
    "the seeds with which the row is better."
)
DETAILS, ROOMY = (EXACT, HOLM, "g", BETTER), ("SD", "seeds", "group")
PAIRS = (
    "Differences on the objective, paired by seed, of all rows, or of an axis's values (means over rows that differ "
    "in nothing else). Intervals and p (Holm) hold for all pairs of a table, so they are wider than above."
)


def compared(contents: Contents, comparison: Comparison) -> str:
    """Return section "Compared"; "" without a baseline and a paper's table."""
    if not comparison.baseline and not comparison.table:
        return ""
    table = rows_table(comparison, contents.decimals)
    whose = f" The paper's numbers are those of {comparison.table}." if comparison.printed else ""
    said_above = (
        comparison.criterion_text,
        suggestive_text(comparison.compared),
        resolution_text(comparison),
    )
    num_fixed = len(comparison.fixed)
    classes = ["baseline"] * num_fixed + [""] * (len(table) - num_fixed)
    rows = page.table(table, classes, "long", "compared", (), DETAILS, ROOMY)
    parts = [page.paragraph(LEGEND + whose), rows]
    if comparison.baseline:
        beside = {"minus": comparison.baseline, "printed": comparison.printed}
        parts.append(differences_figure(contents, result_scores(contents), "differences", **beside))
    return page.section(
        "Compared",
        *parts,
        *(page.paragraph(text) for text in remarks(comparison) if text not in said_above),
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
    return page.section("Each pair", page.paragraph(PAIRS), *parts) if found else ""


def claims(comparison: Comparison, decimals: int) -> str:
    """Return the paper's claims with their verdicts."""
    if not comparison.judged:
        return ""
    heading = f"<h3>{counted(len(comparison.judged), 'claim')} of the paper</h3>"
    return heading + page.table(claims_table(comparison, decimals), kind="plain", name="claims")
