"""The sections of a search: best trial, history, trials, and its space."""

import pandas as pd

from analysis import page
from analysis.contents import BASE, Contents, baseline_scores, label_of, objective_decimals
from analysis.figures import searched
from analysis.figures.curves import curve_data, draw_curves
from analysis.figures.search_features import draw_rungs, rungs_data
from analysis.formats import counted, join_words, show_number
from analysis.scores import degenerate_note, show_score, show_trials
from analysis.search import settings, trials
from analysis.sections.axes import ablation_path, importance
from analysis.sections.front import front, objectives_text
from rse_study.results.records import FINISHED
from rse_study.search.stopping import Hyperband, rule_of

RUNGS = (
    "Each column is a rung and each mark a trial that reached it, the earliest trials at the left. A trial was "
    "compared with those {bracket}that had reached the rung before it, so an early trial may continue with a score "
    "that would have stopped a later one."
)

LET_RUN = " Some trials (`let_run`, of an earlier version) ran to the full budget whatever these verdicts."
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


def search_sections(contents: Contents) -> list[str]:
    """Return all sections in order."""
    table = trials(contents)
    scores = baseline_scores(contents.study, contents.evaluations, contents.study.objective.evaluation)
    return [
        front(contents),
        best(contents, table),
        history(contents, table, scores),
        trial_table(contents, table, scores),
        known_before(contents),
        importance(contents),
        ablation_path(contents),
        *space_sections(contents, table),
    ]


def best(contents: Contents, table: pd.DataFrame) -> str:
    """Return section "Best": the best trial's setting next to the paper's."""
    if not table["best"].any():
        return page.section("Best", page.paragraph("No trial is complete yet."))
    row = table[table["best"]].iloc[0]
    score = show_number(row["objective"], contents.decimals)
    over = f", the mean of {counted(row['num_seeds'], 'seed')}" if contents.study.search_seeds else ""
    where = f"{contents.label} after {row['t']} steps{over}"
    told = f"Trial {row['trial']}: {score} on {where}, the score it was selected on."
    if len(contents.study.all_objectives) > 1:
        told = f"Trial {row['trial']}, the front's knee: {objectives_text(contents, row)} after {row['t']} steps."
    if row["label"] == "base":
        told += " It is the base itself."
    return page.section(
        "Best", page.paragraph(told), page.table(settings(contents, table), kind="words", name="best")
    )


def history(contents: Contents, table: pd.DataFrame, scores: pd.DataFrame) -> str:
    """Return section "History": the search trial by trial, and step by step."""
    label, decimals = contents.label, contents.decimals
    if not table["status"].isin(FINISHED).any():
        return page.section("History", page.paragraph("No trial has ended yet."))
    parts = [page.paragraph(fidelity_text(contents, table))]
    if drawn := searched.history_of(contents, table, scores):
        parts.append(page.figure(drawn, "history", table[["trial", "objective", "t", "status", "best"]]))
    points = curve_data(table, contents.curves)
    if len(points):
        drawn = draw_curves(points, contents.study.rungs, label, decimals)
        seeds = "A line is a trial's first seed." if contents.study.search_seeds else ""
        note = page.paragraph(f"{seeds} {contents.thinned_note}".strip())
        parts += ["<h3>Step by step</h3>", note, page.figure(drawn, "curves", points)]
    verdicts = rungs_data(contents)
    if len(verdicts):
        drawn = draw_rungs(verdicts, label, decimals)
        is_in_bracket = isinstance(rule_of(contents.study), Hyperband)
        note = RUNGS.format(bracket="of its bracket " if is_in_bracket else "")
        note += LET_RUN if contents.study.settings.early_stopping.get("let_run") else ""
        parts += ["<h3>Rung by rung</h3>", page.figure(drawn, "rungs", verdicts), page.how_to_read(note)]
    return page.section("History", *parts)


def fidelity_text(contents: Contents, table: pd.DataFrame) -> str:
    """Say which trials lack the full budget, and which got it afterwards."""
    texts = []
    if table["status"].isin(["stopped_early", "failed"]).any():
        texts.append(
            "The first figure shows trials that ran to the end; the table below has those that ended before. Scores "
            "after different numbers of steps are not comparable."
        )
    stopped = contents.rungs.loc[contents.rungs["verdict"] == "stop", "cell"]
    continued = table.loc[(table["status"] == "complete") & table["identity"].isin(stopped), "trial"]
    if len(continued) and not contents.study.settings.early_stopping.get("let_run"):
        texts.append(
            f"Stopped early, and continued to the full budget after the search: trial {join_words(continued)}."
        )
    return " ".join(texts)


def trial_table(contents: Contents, table: pd.DataFrame, scores: pd.DataFrame) -> str:
    """Return section "Trials": baselines and all trials with their values."""
    shown = show_trials(contents, table, scores)
    values = {one.key: one.values for one in contents.search.standings if one.is_scored}
    for place, one in enumerate(contents.study.other_objectives, start=1):
        texts = [
            show_score(values[key][place], status, objective_decimals(one)) if key in values else ""
            for key, status in zip(table["identity"], table["status"], strict=True)
        ]
        shown.insert(1 + place, label_of(one), [""] * len(scores) + texts)
    classes = ["baseline"] * len(scores) + [
        "best" if best else "short" if status == "stopped_early" else ""
        for best, status in zip(table["best"], table["status"], strict=True)
    ]
    anchors = [""] * len(scores) + [f"trial-{trial}" for trial in table["trial"]]
    unmeasured = scores.loc[scores["value"].isna(), "label"].tolist()
    remarks = [
        "Baselines come first; * marks the best complete trial. Scores in parentheses are from less than the full "
        "budget. Filters can compare numbers, as in alpha>1e-4. Tick two trials to compare them.",
    ]
    if unmeasured:
        remarks.append(f"Not measured in this run: {', '.join(unmeasured)}.")
    parts = [
        page.table(shown, classes, kind="long pick", name="trials", row_names=anchors),
        page.paragraph(degenerate_note(scores)),
    ]
    return page.section("Trials", page.paragraph(" ".join(remarks)), *parts)


def known_before(contents: Contents) -> str:
    """Return section "Known before" of a search of an earlier version; "" of others."""
    known = contents.study.known_trials
    if not known:
        return ""
    text = (
        f"The sampler was given the scores of {counted(len(known), 'trial')} of {known[0]['study']} before the first "
        "trial. They are not results of this study."
    )
    return page.section("Known before", page.paragraph(text))


def space_sections(contents: Contents, table: pd.DataFrame) -> list[str]:
    """Return the sections in order; none before a trial is complete."""
    complete = table[(table["status"] == "complete") & table["objective"].notna()]
    if complete.empty:
        return []
    study, label, decimals = contents.study, contents.label, contents.decimals
    drawn = searched.drawn_study(contents, complete)
    numbers = complete[["trial", "objective", "best", *study.headings]]
    headings = study.heading_of
    tried = {name for one in searched.trials_of(drawn) for name in one.params}
    headings = {name: heading for name, heading in headings.items() if name in tried}
    marked = {
        name: float(part["objective"].iloc[0])
        for name, part in ((BASE, complete[complete["label"] == BASE]), ("best", complete[complete["best"]]))
        if len(part)
    }
    is_less_better = study.objective.direction == "minimize"
    few = (
        f"At most {searched.MOST_TRIALS} of {len(complete)} trials are drawn."
        if len(complete) > searched.MOST_TRIALS
        else ""
    )
    some = SOME_AXES if any(axis.when for axis in study.axes) else ""
    lines = searched.draw_parallel(drawn, headings, label, marked, is_less_better)
    texts = [
        page.how_to_read(" ".join(one for one in (text, few) if one))
        for text in (f"{ALL_AXES} {some}".strip(), TWO_AXES, ONE_AXIS.format(label=label))
    ]
    sections = [page.section("All axes at once", page.figure(lines, "parallel", numbers), texts[0])]
    if len(headings) > 1 and len(complete) >= LEAST:
        ordered = {name: headings[name] for name in by_importance(contents) if name in headings} | headings
        ranks = searched.draw_ranks(drawn, ordered, label, decimals)
        sections.append(page.section("Two axes at a time", page.figure(ranks, "ranks", numbers), texts[1]))
    best = set(complete.loc[complete["best"], "trial"])
    slices = [
        page.figure(
            searched.draw_slice(drawn, name, heading, label, best, decimals),
            f"slice-{place}",
            complete[["trial", heading, "objective"]],
        )
        for place, (name, heading) in enumerate(headings.items())
    ]
    return [*sections, page.section("One axis at a time", page.grid(slices), texts[2])]


def by_importance(contents: Contents) -> list[str]:
    """Return the axes by importance, but axes of choices last."""
    choices = {axis.name for axis in contents.study.axes if axis.kind == "choice"}
    means = contents.importance.groupby("axis")["value"].mean().sort_values(ascending=False)
    return sorted(means.index, key=lambda axis: axis in choices)
