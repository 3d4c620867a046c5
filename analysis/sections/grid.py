"""The rows of a grid: all of them are results."""

from analysis import page
from analysis.contents import Contents
from analysis.figures.heat import draw_heat, heat_data
from analysis.figures.lines import draw_lines, lines_data
from analysis.scores import degenerate_note, scores, show_scores
from analysis.sections.scores import above_text, dots, row_classes


def grid_rows(contents: Contents) -> str:
    """Section "Results" of a grid."""
    cells = contents.stage("grid")
    frame = scores(contents, cells)
    measures = list(dict.fromkeys(frame["measure"]))
    legend = (
        "Mean, standard deviation (n - 1) and each seed, of complete cells. All rows have the same seeds, which share "
        "initialisation and order of data, so that they can be compared pair by pair."
    )
    shown = show_scores(frame, "SD", contents.decimals_by_measure, every_seed=measures)
    return page.section(
        "Results",
        page.paragraph(legend),
        page.table(shown, row_classes(frame), "long", "results"),
        page.paragraph(degenerate_note(frame)),
        page.paragraph(above_text(contents, frame)),
        dots(contents, frame, "rows"),
    )


def grid_axes(contents: Contents) -> str:
    """Return section "Along the axes" of a grid, a map where there are two.

    Nothing where lines would say nothing.
    """
    study, drawn = contents.study, []
    fields = heat_data(contents)
    if len(fields):
        drawn.append(page.figure(draw_heat(fields, study.headings, contents.label, contents.decimals), "map"))
    for number, (axis, heading) in enumerate(zip(study.axes, study.headings, strict=True)):
        frame = lines_data(contents, axis)
        if len(frame):
            lines = draw_lines(frame, heading, contents.label, contents.decimals, axis.log)
            drawn.append(page.figure(lines, f"axis-{number}"))
    return page.section("Along the axes", page.grid(drawn)) if drawn else ""
