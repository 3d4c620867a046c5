"""The sections on a search's space: all axes at once, two of them, and one."""

import pandas as pd

from analysis import page
from analysis.contents import BASE, Contents
from analysis.figures.searched import (
    MOST_TRIALS,
    draw_parallel,
    draw_ranks,
    draw_slice,
    drawn_study,
    trials_of,
)

ALL_AXES = (
    "Each line is a complete trial: it begins at its score and passes through its value on each axis. Click in the "
    "legend to hide a group. Where the best lines converge, the search has settled the axis; where they spread, it "
    "has not."
)
SOME_AXES = "Some axes belong to some trials only: a line at None has no value there."
TWO_AXES = (
    "Choose two axes above the figure. Dots are the complete trials, coloured by the rank of their score. All other "
    "axes differ from dot to dot, so a cluster may be due to another axis."
)
ONE_AXIS = (
    "{label} of the complete trials against the values of one axis; the later a trial, the darker, and the best has an "
    "orange edge. All other axes differ from dot to dot, so a trend may be due to another axis."
)
LEAST = 4  # trials of a figure of two axes


def space_sections(contents: Contents, table: pd.DataFrame) -> list[str]:
    """Return the sections in order; none before a trial is complete."""
    complete = table[(table["status"] == "complete") & table["objective"].notna()]
    if complete.empty:
        return []
    study, label, decimals = contents.study, contents.label, contents.decimals
    drawn, numbers = (
        drawn_study(contents, complete),
        complete[["trial", "objective", "best", *study.headings]],
    )
    headings = study.heading_of
    tried = {name for one in trials_of(drawn) for name in one.params}
    headings = {name: heading for name, heading in headings.items() if name in tried}
    marked = {
        name: float(part["objective"].iloc[0])
        for name, part in ((BASE, complete[complete["label"] == BASE]), ("best", complete[complete["best"]]))
        if len(part)
    }
    is_less_better = study.objective.direction == "minimize"
    few = f"At most {MOST_TRIALS} of {len(complete)} trials are drawn." if len(complete) > MOST_TRIALS else ""
    some = SOME_AXES if any(axis.when for axis in study.axes) else ""
    lines = draw_parallel(drawn, headings, label, marked, is_less_better)
    texts = [
        page.paragraph(" ".join(one for one in (text, few) if one))
        for text in (f"{ALL_AXES} {some}".strip(), TWO_AXES, ONE_AXIS.format(label=label))
    ]
    sections = [page.section("All axes at once", texts[0], page.figure(lines, "parallel", numbers))]
    if len(headings) > 1 and len(complete) >= LEAST:
        ordered = {name: headings[name] for name in by_importance(contents) if name in headings} | headings
        ranks = draw_ranks(drawn, ordered, label, decimals)
        sections.append(page.section("Two axes at a time", texts[1], page.figure(ranks, "ranks", numbers)))
    best = set(complete.loc[complete["best"], "trial"])
    slices = [
        page.figure(
            draw_slice(drawn, name, heading, label, best, decimals),
            f"slice-{place}",
            complete[["trial", heading, "objective"]],
        )
        for place, (name, heading) in enumerate(headings.items())
    ]
    return [*sections, page.section("One axis at a time", texts[2], page.grid(slices))]


def by_importance(contents: Contents) -> list[str]:
    """Return the axes by importance, but axes of choices last."""
    choices = {axis.name for axis in contents.study.axes if axis.kind == "choice"}
    means = contents.importance.groupby("axis")["value"].mean().sort_values(ascending=False)
    return sorted(means.index, key=lambda axis: axis in choices)
