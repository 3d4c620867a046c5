"""How a study ran: cells left, time spent, and when each attempt ran."""

import pandas as pd

from analysis import page
from analysis.contents import Contents
from analysis.figures.burndown import burndown_data, draw_burndown
from analysis.figures.timeline import draw_timeline, timeline_data
from analysis.phrases import show_brief
from analysis.sections.account import cell_names
from rse_study.search.budget import LIMITS

LEFT = (
    "Above: cells that have not ended yet, over a time that includes pauses. Below: device time of the attempts, "
    "without those of earlier revisions."
)
UNPLANNED = "The study's file states no hours per cell, so the planned time is unknown."
LANES = (
    "Each bar is an attempt at a cell; bars above each other ran at the same time. The ledger does not record where "
    "an attempt ran: a line of the figure is not a machine."
)


def how_it_ran(contents: Contents) -> str:
    """Return section "How it ran"; nothing before the first attempt."""
    names = cell_names(contents)
    attempts = timeline_data(contents, names)
    if attempts.empty:
        return ""
    ended, parts = burndown_data(contents, names), []
    if len(ended):
        told = LEFT if ended["planned_low_s"].notna().any() else f"{LEFT} {UNPLANNED}"
        parts += [page.paragraph(told), page.figure(draw_burndown(ended), "burndown", ended)]
    parts += budget(contents)
    parts += [page.paragraph(LANES), page.figure(draw_timeline(attempts), "timeline", attempts)]
    return page.section("How it ran", *parts)


def budget(contents: Contents) -> list[str]:
    """Return the search's budget, and whether it ended the search; empty without one."""
    shares = contents.search.budget
    if not shares:
        return []
    told = contents.search.reason_of_end or "the search's budget did not end it"
    rows = [
        (LIMITS[one.name], show_brief(one.limit, 4), show_brief(one.spent, 4), show_brief(one.with_next, 4))
        for one in shares
    ]
    frame = pd.DataFrame(
        rows, columns=["search budget", "limit", "spent", "with one more cell"], dtype=object
    )
    return [
        page.paragraph(f"{told[0].upper()}{told[1:]}."),
        page.table(frame, kind="plain", name="search-budget"),
    ]
