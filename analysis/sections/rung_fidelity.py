"""The section on early stopping: how well rungs predict the end of training."""

import pandas as pd

from analysis import page
from analysis.contents import Contents
from analysis.figures.rung_fidelity import MARKS, draw_rung_fidelity, rung_fidelity_data
from analysis.formats import show_number, show_with_interval
from analysis.phrases import counted, join_words
from analysis.search import chosen_of
from rse_study.search.rung_fidelity import FEWEST, LEAST, StoppingAdvice, stopping_advice, unstoppable

WHAT = (
    "Rank correlations over trials between the scores at a rung and at the end, with 95% intervals (percentile "
    "bootstrap over trials). "
)
RULE = (
    "Stopping counts as reliable from a step on if, at its rung and every later one, the interval of Spearman's rho "
    f"over at least {FEWEST} trials lies above {LEAST:g} (dashed)."
)
SURVIVORS = (
    "Stopped trials have no final score, so complete trials are survivors: trials that were stopped wrongly are "
    "missing, and the narrower range of the others mostly lowers a correlation. "
)
FAIR = "Trials that no verdict could stop are a fair sample."
NO_FAIR_SAMPLE = (
    "No trial was let run whatever its verdicts; early_stopping: {let_run: 0.1} would give a fair sample."
)


def rung_fidelity_parts(contents: Contents, table: pd.DataFrame) -> list[str]:
    """Return figure, table and sentences; empty before a rung has a correlation."""
    frame = rung_fidelity_data(contents)
    drawn = frame.dropna(subset="spearman")
    if drawn.empty:
        return []
    advice, has_fair = stopping_advice(frame), bool((drawn["sample"] == "let run").any())
    return [
        "<h3>How well rungs predict the end</h3>",
        page.paragraph(f"{advice_text(advice)} {let_run_text(contents, table)}".strip()),
        page.figure(draw_rung_fidelity(frame), "rung-fidelity", frame),
        page.table(shown(drawn), name="rung-fidelity"),
        page.paragraph(WHAT + RULE),
        page.paragraph(SURVIVORS + (FAIR if has_fair else NO_FAIR_SAMPLE), "note"),
    ]


def advice_text(advice: StoppingAdvice) -> str:
    """Say from which step stopping can be trusted, and by which trials."""
    whom = "that no verdict could stop" if advice.sample == "let run" else "that ran to the end"
    if not advice.can_be_said:
        return f"{counted(advice.num_trials, 'trial')} {whom} cannot tell from which step on stopping is reliable here."
    if advice.trusted_from is None:
        return (
            f"Stopping is reliable at no rung here, judging by {counted(advice.num_trials, 'trial')} {whom}."
        )
    caution = "" if advice.sample == "let run" else " (stopped trials are missing)"
    return (
        f"Stopping is reliable from step {advice.trusted_from} on, judging by {counted(advice.num_trials, 'trial')} "
        f"{whom}{caution}."
    )


def let_run_text(contents: Contents, table: pd.DataFrame) -> str:
    """Say how the trials ended that went on against a verdict."""
    stops = set(contents.rungs.loc[contents.rungs["verdict"] == "stop", "trial"])
    complete = table[table["status"] == "complete"]
    free = complete[complete["trial"].isin(list(unstoppable(contents.study, stops)))]
    if free.empty:
        return ""
    place, decimals = {identity: n for n, identity in enumerate(chosen_of(contents))}, contents.decimals
    first = free.loc[free["identity"].map(place).fillna(len(place)).idxmin()]
    best = complete[complete["best"]].iloc[0]
    ended = f"the best of these ended at {show_number(first['objective'], decimals)}"
    if first["trial"] == best["trial"]:
        ended += ", and is the best trial of the search"
    else:
        ended += f", the best trial of the search at {show_number(best['objective'], decimals)}"
    noun = "trial" if len(free) == 1 else "trials"
    return f"Let run on against the verdict: {noun} {join_words(free['trial'])}; {ended}."


def shown(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the correlations as text."""
    rows = [
        (
            MARKS[row.sample][0],
            row.t,
            row.num_trials,
            show_with_interval(row.spearman, row.spearman_low, row.spearman_high),
            show_with_interval(row.kendall, row.kendall_low, row.kendall_high),
        )
        for row in frame.sort_values(["sample", "t"]).itertuples()
    ]
    columns = ["sample", "step", "trials", "Spearman's rho (95%)", "Kendall's tau-b (95%)"]
    return pd.DataFrame(rows, columns=columns, dtype=object)
