"""Scores during training besides the objective: watched evaluations and attacks."""

from analysis import page
from analysis.contents import Contents
from analysis.figures.curves import course_data, draw_course

NOTE = (
    "Measured at the steps that the study's file names, on the encoder at that step, and not used for selection. "
    "Each line is a cell: a trial with one seed."
)


def course(contents: Contents) -> str:
    """Return section "In the course of training"; "" if nothing was watched."""
    drawn = []
    for number, metric in enumerate(sorted(set(contents.course["name"]))):
        frame = course_data(contents, metric)
        if len(frame):
            drawn.append(page.figure(draw_course(frame, metric), f"course-{number}", frame))
    if not drawn:
        return ""
    return page.section(
        "In the course of training",
        page.paragraph(f"{NOTE} {contents.thinned_note}".strip()),
        page.grid(drawn),
    )
