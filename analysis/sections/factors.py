"""The section of a factorial design: effects with intervals, and the map of pairs."""

from analysis import page
from analysis.comparison import Comparison
from analysis.contents import Contents
from analysis.effects import effects_remarks, effects_table
from analysis.figures.forest import draw_forest, effects_forest_data
from analysis.figures.lines import draw_heat, interactions_data

LEGEND = (
    "Each effect is estimated from all rows of the design, seed by seed: for a factor, the mean of the rows at its "
    "second level minus that at its first; for a pair, half the change that the second factor makes to the effect of"
    " the first. Intervals and p (Holm) hold for all effects at once. Interactions of three or more factors are "
    "assumed to be zero."
)
MAP = "Main effects on the diagonal, pairs beside it, on the objective. Fields that share a contrast show one sum."


def factors(contents: Contents, comparison: Comparison) -> str:
    """Return section "Factors"; "" without a factorial design."""
    found, drawn = comparison.effects, []
    if not found.factors:
        return ""
    if len(found.compared):
        forest, pairs = effects_forest_data(found, contents.decimals_by_measure), interactions_data(found)
        label = f"effect on {contents.label}"
        heat = draw_heat(pairs, ("factor", "factor"), label, contents.decimals, mid=0.0)
        table = page.table(effects_table(found, contents.decimals), kind="long", name="effects")
        forest_figure = page.figure(draw_forest(forest), "effects-forest", forest)
        drawn = [table, forest_figure, page.paragraph(MAP), page.figure(heat, "interactions", pairs)]
    remarks = map(page.paragraph, effects_remarks(found))
    return page.section("Factors", page.paragraph(LEGEND), *drawn[:1], *remarks, *drawn[1:])
