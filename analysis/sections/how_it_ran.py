"""How a study ran: its budget, and when each attempt ran."""

import pandas as pd

from analysis import page
from analysis.contents import Contents
from analysis.figures.attempts import draw_timeline, timeline_data
from analysis.phrases import show_brief
from analysis.sections.account import cell_names
from rse_study.search.budget import LIMITS

LANES = (
    "Each bar is an attempt at a cell; bars above each other ran at the same time. The ledger does not record where "
    "an attempt ran: a line of the figure is not a machine."
)


def how_it_ran(contents: Contents) -> str:
    """Return section "How it ran"; nothing before the first attempt."""
    attempts = timeline_data(contents, cell_names(contents))
    if attempts.empty:
        return ""
    lanes = page.figure(draw_timeline(attempts), "timeline", attempts)
    return page.section("How it ran", *budget(contents), page.paragraph(LANES), lanes)


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
