"""A study beside its paper: the table's columns, and the papers' own figures."""

from collections.abc import Callable
from dataclasses import replace

import pandas as pd
import plotly.graph_objects as go

from analysis import page
from analysis.columns_table import column_remarks, long_table, wide_table
from analysis.comparison import Comparison
from analysis.contents import Contents
from analysis.figures import papers
from analysis.figures.forest import columns_forest_data, draw_forest
from analysis.figures.lines import draw_measures, measures_data
from analysis.paper.columns import TOGETHER, columns_of
from analysis.paper.tables import figures
from analysis.scores import result_cells
from analysis.sections.results import along_axes

LEGEND = (
    "Our values, the paper's in parentheses. If the 95% interval of our difference, for all cells at once, excludes "
    "0, its direction is the paper's (same) or the opposite (other); otherwise it is undecided."
)
WITHOUT = "Our values alone: the paper's text has no numbers for it."
PAIRS = (
    "As in figure 2 of RobustSentEmbed: a line joins the rows under one attack. The further to the top left, the more "
    "queries an attack needs and the less accuracy it costs. Means over seeds; the paper prints no numbers for it."
)
GEOMETRY = (
    "As in figure 3 of RobustSentEmbed: the mean distance of positive pairs against how evenly vectors are spread. "
    "Less is better for both."
)
COSINES = (
    "As in figure 3 of DCL: positive and random pairs of projections at the last step. If both are near 1, all "
    "vectors look alike."
)
IN_THE_PLANE = (
    "As in figure 2 of DCL: sentences and their versions by t-SNE, for each row's first seed. The adversarial version "
    "is the one of eight with synonyms furthest from its sentence for this model. Only neighbourhoods mean anything."
)
ALONG = "As in figure 2 of L2P-CSR: a line for each measure. Large marks are means over seeds, small ones the seeds."
NOT_IN_THE_LEDGER = {
    "l2p-figure3": "Not drawn: the ledger holds the shares of weakened words by layer, but not the words.",
    "rse-figure1": "It is a diagram of the method.",
    "l2p-figure1": "It is a diagram of the method.",
    "dcl-figure1": "It is a diagram of the method.",
}
DRAWN_ABOVE = {
    "rse-figure4": "the map of alpha and beta", "rse-figure5": "the line over N",
    "rse-figure6": "the map of lambda1 and lambda2", "l2p-figure2": "the line over its axis",
}  # fmt: skip
"""The figures of section "Along the axes" that repeat a paper's figure."""
ONLY_THE_OBJECTIVE = {
    "l2p-figure2": "The paper shows STS-B and SICK-R; this study measures its objective alone.",
}


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


def paper_figure(contents: Contents) -> str:
    """Return section "As the papers draw it"; "" if no figure is about this study."""
    own = [*of_the_average(contents), *along(contents)]
    parts = [*own, *pairs(contents), *geometry(contents), *cosines(contents), *planes(contents)]
    told = remark(contents, is_drawn=bool(own))
    if not parts and not told:
        return ""
    return page.section("As the papers draw it", page.paragraph(told), *parts, name="paper-figure")


def repeated(contents: Contents) -> str:
    """Return the paper's table or figure in the study's file, or ""."""
    return contents.study.settings.paper.table


def with_papers_y(contents: Contents) -> tuple[Contents, str]:
    """Return the cells with the mean that a paper's figure shows, and its name.

    They are as they are, with the objective's name, where the study repeats no such figure or lacks some of the sets.
    """
    name, study = repeated(contents), contents.study
    column = next(iter(columns_of(name, study.encoder)), None) if name in DRAWN_ABOVE else None
    metrics = column.metric.split(TOGETHER) if column else []
    found = contents.evaluations[contents.evaluations["metric"].isin(metrics)]
    if column is None or found["metric"].nunique() < max(2, len(metrics)):
        return contents, contents.label
    means = found.pivot(index="subject", columns="metric", values="value").mean(axis=1, skipna=False)
    averaged = contents.cells["identity"].map(means)
    return replace(contents, cells=contents.cells.assign(objective=averaged)), column.name


def of_the_average(contents: Contents) -> list[str]:
    """Return the map or line of a figure whose y is a mean over sets."""
    found, label = with_papers_y(contents)
    drawn = along_axes(found, label, "paper-") if label != contents.label else []
    name = repeated(contents)
    told = f"{name}: {dict(figures()[['id', 'title']].values)[name]}. The ticks are ours." if drawn else ""
    return [page.paragraph(told), page.grid(drawn)] if drawn else []


def remark(contents: Contents, *, is_drawn: bool) -> str:
    """Say what the paper's figure shows, and where it is here or why it is not."""
    name = repeated(contents)
    titles = dict(figures()[["id", "title"]].values)
    if name in NOT_IN_THE_LEDGER:
        return f"{name}: {titles[name]}. {NOT_IN_THE_LEDGER[name]}"
    if name not in DRAWN_ABOVE or is_drawn:
        return ""
    more = ONLY_THE_OBJECTIVE.get(name, "")
    where = f'It is drawn as {DRAWN_ABOVE[name]} in section "Along the axes", of our objective; the ticks are ours.'
    return f"{name}: {titles[name]}. {where} {more}".strip()


def pairs(contents: Contents) -> list[str]:
    """Return queries against accuracy lost, a figure per attacked set."""
    frame = papers.attack_pairs_data(contents, result_cells(contents))
    opening = f"<h3>Under attack</h3>{page.paragraph(PAIRS)}"
    return one_by_one(frame, "set", opening, papers.draw_attack_pairs, "attack-pairs")


def geometry(contents: Contents) -> list[str]:
    """Return alignment against uniformity, a figure per evaluation."""
    frame = papers.alignment_data(contents, result_cells(contents), repeated(contents))
    opening = f"<h3>Alignment and uniformity</h3>{page.paragraph(GEOMETRY)}"
    return one_by_one(frame, "evaluation", opening, papers.draw_alignment, "alignment")


def planes(contents: Contents) -> list[str]:
    """Return sentences and their versions in the plane, a figure per model and kind."""
    opening = f"<h3>Sentences in the plane</h3>{page.paragraph(IN_THE_PLANE)}"
    return one_by_one(
        papers.plane_data(contents, result_cells(contents)), "panel", opening, papers.draw_plane, "plane"
    )


def one_by_one(
    frame: pd.DataFrame, column: str, opening: str, draw: Callable[[pd.DataFrame], go.Figure], name: str
) -> list[str]:
    """Return the opening and a figure per entry of a column, titled if several."""
    parts = [opening] if len(frame) else []
    for number, (entry, part) in enumerate(frame.groupby(column, sort=False)):
        title = f"<h4>{page.escape(str(entry))}</h4>" if frame[column].nunique() > 1 else ""
        parts.append(title + page.figure(draw(part), f"{name}-{number}", part))
    return parts


def along(contents: Contents) -> list[str]:
    """Return several measures along the only axis of a grid."""
    study = contents.study
    if study.kind != "grid" or len(study.axes) != 1:
        return []
    frame, heading = measures_data(contents, study.axes[0]), study.headings[0]
    if frame.empty:
        return []
    drawn = draw_measures(frame, heading, contents.decimals_by_measure, study.axes[0].log)
    title = f"<h3>Measures over {page.escape(heading)}</h3>"
    return [title + page.paragraph(ALONG) + page.figure(drawn, "measures", frame)]


def cosines(contents: Contents) -> list[str]:
    """Return cosines of positive and random pairs of a grid that reports them."""
    frame = papers.cosines_data(contents) if contents.study.kind == "grid" else None
    if frame is None or frame.empty:
        return []
    title = f"<h3>Cosines of projections</h3>{page.paragraph(COSINES)}"
    return [title + page.figure(papers.draw_cosines(frame), "cosines", frame)]
