"""The confirmed trials of a search: its only values that are results."""

import pandas as pd

from analysis import page
from analysis.contents import BASE, Contents
from analysis.phrases import counted, join_words, show_status
from analysis.scores import NOT_MEASURED, scores, seeds_of
from analysis.search import confirmed, trials
from analysis.sections.scores import differences_figure, scores_table
from rse_study.results.settings import ConfirmSettings


def confirmation(contents: Contents) -> str:
    """Return section "Confirmed"; "" if the study confirms nothing."""
    plan, cells = contents.study.confirm_settings, confirmed(contents)
    if not plan.seeds and cells.empty:
        return ""
    frame = scores(contents, cells)
    return page.section(
        "Confirmed",
        page.paragraph(f"{explained(contents, frame)} {missing_text(contents, cells, frame)}".strip()),
        scores_table(contents, frame, "confirmed"),
        differences_figure(contents, frame, "differences"),
    )


def explained(contents: Contents, frame: pd.DataFrame) -> str:
    """Say what was confirmed; "" before anything is."""
    seeds = seeds_of(frame)
    if not seeds:
        return ""
    table, has_base = trials(contents), (frame["kind"] == "base").any()
    who = "The base and the best of the search" if has_base else "The best of the search"
    if (table["best"] & (table["label"] == BASE)).any():
        base = "It and the best" if has_base else "The best"
        who = f"The search's best trial was the base itself. {base} of the others"
    return f"{who}, retrained with {counted(len(seeds), 'fresh seed')}, not used in the search."


def fresh_seeds(plan: ConfirmSettings) -> str:
    """Return words such as "fresh seeds 1 and 2", or "3 to 16 fresh seeds each"."""
    if plan.until_decided:
        return f"{plan.until_decided.range_text} fresh seeds each"
    return f"fresh {'seed' if len(plan.seeds) == 1 else 'seeds'} {join_words(plan.seeds)}"


def missing_text(contents: Contents, cells: pd.DataFrame, frame: pd.DataFrame) -> str:
    """Say what is still missing in the confirmation."""
    plan = contents.study.confirm_settings
    if cells.empty:
        best = "the best trial" if plan.num_best == 1 else f"the best {plan.num_best} trials"
        who = f"{best} and the base" if plan.baseline == "base" else best
        return f"Planned, not done yet: {who} with {fresh_seeds(plan)}."
    open_cells = cells[cells["status"] != "complete"]
    texts = [
        f"{name}, seed {seed} ({show_status(status)})"
        for name, seed, status in open_cells[["name", "seed", "status"]].values
    ]
    rows = contents.search.rows
    unplanned = (rows.num_wanted if rows else plan.num_cells) - len(cells)
    if unplanned > 0:
        texts.append(f"{counted(unplanned, 'cell')} not started")
    bare = frame[(frame["kind"] != "baseline") & (frame["status"] == NOT_MEASURED)]
    texts += [
        f"{row} with seed {seed} on {measure}"
        for row, seed, measure in bare[["row", "seed", "measure"]].values
    ]
    return f"Missing: {'; '.join(texts)}." if texts else ""
