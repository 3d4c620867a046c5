"""The rows of a grid, all of which are results."""

from analysis import page
from analysis.contents import Contents
from analysis.figures.curves import MAX_CHOICES, bands_data, draw_bands
from analysis.figures.lines import draw_heat, draw_lines, heat_data, lines_data
from analysis.scores import scores
from analysis.sections.scores import differences_figure, scores_table
from rse_study.results.study_record import AT_CHECKPOINT

STEPS = (
    "The objective during training, for complete cells: thin lines are seeds, the thick line is their mean, and the "
    "band is one standard deviation (n - 1) on either side. Only the {} is a result."
)


def grid_rows(contents: Contents) -> str:
    """Return section "Results" of a grid."""
    cells = contents.stage("grid")
    frame = scores(contents, cells)
    alike = "All rows have" if contents.search.rows is None else "So far, rows have"
    legend = (
        f'Mean and standard deviation (n - 1) over complete cells; "all columns" shows each seed. {alike} the same '
        "seeds, which share initialisation and order of data, so rows can be compared seed by seed."
    )
    figure = (
        "" if contents.study.settings.grid.baseline else differences_figure(contents, frame, "differences")
    )
    return page.section("Results", page.paragraph(legend), scores_table(contents, frame, "results"), figure)


def grid_axes(contents: Contents) -> str:
    """Return section "Along the axes" with lines and maps; "" where they show nothing."""
    study, drawn = contents.study, []
    fields = heat_data(contents)
    if len(fields):
        drawn_map = draw_heat(fields, study.headings, contents.label, contents.decimals)
        drawn.append(page.figure(drawn_map, "map", fields))
    for number, (axis, heading) in enumerate(zip(study.axes, study.headings, strict=True)):
        frame = lines_data(contents, axis)
        if len(frame):
            lines = draw_lines(frame, heading, contents.label, contents.decimals, axis.log)
            drawn.append(page.figure(lines, f"axis-{number}", frame))
    return page.section("Along the axes", page.grid(drawn)) if drawn else ""


def grid_steps(contents: Contents) -> str:
    """Return section "Step by step" of a grid, or "" before a cell is complete."""
    frame = bands_data(contents.stage("grid"), contents.curves)
    if frame.empty:
        return ""
    drawn = draw_bands(frame, contents.label, contents.decimals)
    result = "kept checkpoint" if contents.study.objective.metric.endswith(AT_CHECKPOINT) else "last step"
    told = f"{STEPS.format(result)} {contents.thinned_note}".strip()
    if (num_rows := frame["row"].nunique()) > MAX_CHOICES:
        told += f" The first {MAX_CHOICES} of {num_rows:,} rows can be chosen."
    return page.section("Step by step", page.paragraph(told), page.figure(drawn, "steps", frame))
