"""Sections on training: other scores on the way, and diagnostics inside a step."""

import pandas as pd

from analysis import page
from analysis.contents import Contents
from analysis.figures.curves import course_data, draw_course
from analysis.figures.diagnostics import MOST_ROWS, diagnostics_data, draw_diagnostics
from analysis.formats import join_words
from rse_study.results.manipulation import percent
from rse_study.results.row_checks import RowChecks

WATCHED = (
    "Measured at the steps that the study's file names, on the encoder at that step, and not used for selection. "
    "Each line is a cell: a trial with one seed."
)
INSIDE = (
    "Measures that training reports about itself, row by row; each line is a complete cell. None of them is a score."
    f" Checks are means over the second half of training. Of a grid, the first {MOST_ROWS} rows are shown; of a "
    "search, the base, the best trial and the confirmed ones."
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
        page.paragraph(f"{WATCHED} {contents.thinned_note}".strip()),
        page.grid(drawn),
    )


def diagnostics(contents: Contents) -> str:
    """Return section "Inside a step"; "" if no cell recorded a metric of its own."""
    frame = diagnostics_data(contents)
    if frame.empty:
        return ""
    checks = {one.row: one for one in contents.checks}
    parts = dict(iter(frame.groupby("row")))
    order = [row for row in checks if row in parts]
    return page.section(
        "Inside a step",
        page.paragraph(f"{INSIDE} {contents.thinned_note}".strip()),
        *(one_row(checks[row], parts[row], number) for number, row in enumerate(order)),
    )


def one_row(checks: RowChecks, frame: pd.DataFrame, number: int) -> str:
    """Return a row's checks and its figure, folded."""
    inert = dict.fromkeys(check.part for check, value in checks.values if check.is_inert(value))
    verdict = f"inert: {join_words(inert)}" if inert else "alive"
    if not checks.is_recorded:
        verdict = "its method defines no checks" if checks.names_none else "checks not recorded"
    return page.folded(
        f"{checks.row} ({verdict})",
        page.table(checks_table(checks), kind="plain", name=f"checks-{number}") if checks.values else "",
        page.figure(draw_diagnostics(frame), f"diagnostic-{number}", frame),
    )


def checks_table(checks: RowChecks) -> pd.DataFrame:
    """Return a row per check: part, value, limit, verdict, reason."""
    rows = [
        (check.part, check.measure.format(percent(value)), check.alive, verdict, check.reason)
        for check, value in checks.values
        for verdict in (("inert" if check.is_inert(value) else "alive") if check.alive else "",)
    ]
    return pd.DataFrame(rows, columns=["part", "measure", "alive", "verdict", "reason"], dtype=object)
