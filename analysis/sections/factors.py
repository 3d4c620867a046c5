"""The section of a factorial design: effects with intervals, and the map of pairs."""

from analysis import page
from analysis.comparison import Comparison
from analysis.contents import Contents
from analysis.effects import effects_remarks, effects_table
from analysis.figures.forest import draw_forest, effects_forest_data
from analysis.figures.interactions import draw_interactions, interactions_data

LEGEND = (
    "Each effect is estimated from all rows of the design, seed by seed: of a factor, the mean of the rows at its "
    "second level minus that at its first; of a pair, half of what the second factor changes in the effect of the "
    "first. Intervals and p (Holm) hold for all effects at once. Interactions of three factors or more are taken to be "
    "none."
)
MAP = "On the diagonal main effects, beside it pairs, on the objective. Fields that share a contrast show one sum."


def factors(contents: Contents, comparison: Comparison) -> str:
    """Return section "Factors"; "" without a factorial design."""
    found = comparison.effects
    if found is None:
        return ""
    remarks = [page.paragraph(text) for text in effects_remarks(found)]
    forest = effects_forest_data(found, contents.decimals_by_measure)
    if forest.empty:
        return page.section("Factors", page.paragraph(LEGEND), *remarks)
    table = page.table(effects_table(found, contents.decimals), kind="long", name="effects")
    pairs, names = interactions_data(found), list(found.factors)
    return page.section(
        "Factors",
        page.paragraph(LEGEND),
        table,
        *remarks,
        page.figure(draw_forest(forest), "effects-forest", forest),
        page.paragraph(MAP),
        page.figure(
            draw_interactions(pairs, names, contents.label, contents.decimals), "interactions", pairs
        ),
    )
