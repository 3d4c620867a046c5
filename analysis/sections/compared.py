"""A grid's rows against its baseline, beside the paper's, and the claims."""

from analysis import page
from analysis.comparison import Comparison
from analysis.comparison_table import claims_table, remarks, rows_table
from analysis.figures.forest import draw_forest, forest_data
from analysis.formats import counted

LEGEND = (
    "Each row minus the baseline, paired by seed. The intervals hold for all rows at once with 95 %; p by flipping "
    "signs, exact, alone and adjusted for all rows (Holm); g is Hedges' effect size. Where an interval holds 0, "
    "no difference is shown; that is no proof that there is none."
)


def compared(comparison: Comparison, decimals: int) -> str:
    """Return section "Compared".

    Nothing of a grid without a baseline and without a paper's table.
    """
    if not comparison.baseline and not comparison.table:
        return ""
    table = rows_table(comparison, decimals)
    beside = f" The paper's numbers are those of {comparison.table}." if comparison.printed else ""
    parts = [page.paragraph(LEGEND + beside), page.table(table, _classes(comparison), "long", "compared")]
    forest = forest_data(comparison, decimals)
    if len(forest):
        parts.append(page.figure(draw_forest(forest), "forest", forest))
    return page.section(
        "Compared", *parts, *map(page.paragraph, remarks(comparison)), claims(comparison, decimals)
    )


def claims(comparison: Comparison, decimals: int) -> str:
    """The paper's claims and the verdicts."""
    if not comparison.judged:
        return ""
    heading = f"<h3>{counted(len(comparison.judged), 'claim')} of the paper</h3>"
    return heading + page.table(claims_table(comparison, decimals), kind="plain", name="claims")


def _classes(comparison: Comparison) -> list[str]:
    return ["baseline"] * len(comparison.fixed) + [""] * len(comparison.scores.table)
