"""A paper's table with our numbers next to the printed ones."""

import pandas as pd

from analysis import page
from analysis.columns_table import column_remarks, long_table, wide_table
from analysis.comparison import Comparison
from analysis.figures.forest import columns_forest_data, draw_forest

LEGEND = (
    "Our values, the paper's in parentheses. If the 95% interval of our difference, for all cells at once, excludes "
    "0, its direction is the paper's (same) or the opposite (other); otherwise it is undecided."
)
WITHOUT = "Our values alone: the paper's text has no numbers for it."


def with_the_row_first(table: pd.DataFrame) -> pd.DataFrame:
    """Move the column of rows first, where a page keeps it in sight."""
    return table[["row", *(name for name in table.columns if name != "row")]]


def paper_table(comparison: Comparison) -> str:
    """Return section "Beside the paper's table"; "" without its measures."""
    cells = comparison.columns
    if not cells:
        return ""
    wide = with_the_row_first(wide_table(cells))
    has_numbers = any(cell.column.printed for cell in cells)
    fixed = {cell.row for cell in cells if cell.is_fixed}
    classes = ["baseline" if row in fixed else "" for row in wide["row"]]
    forest = columns_forest_data(cells)
    drawn = page.figure(draw_forest(forest), "paper-forest", forest) if len(forest) else ""
    return page.section(
        f"Beside {comparison.table}",
        page.paragraph(LEGEND if has_numbers else WITHOUT),
        page.table(wide, classes, "long", "paper"),
        *map(page.paragraph, column_remarks(cells, comparison.table)),
        drawn,
        page.folded(
            "Every cell with its interval",
            page.table(with_the_row_first(long_table(cells)), kind="long", name="paper-intervals"),
        ),
        name="paper",
    )
