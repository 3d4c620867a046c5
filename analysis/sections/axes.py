"""Sections on which axis matters: importance and the ablation path."""

import pandas as pd

from analysis import page
from analysis.contents import BASE, Contents
from analysis.figures import search_features
from analysis.formats import counted, join_words, show_condition, show_signed, show_with_interval
from analysis.search_answer import UNIT

FEW = 30  # trials below which an importance is mostly noise
EVALUATORS = {
    "PED-ANOVA": "PED-ANOVA compares the values of the best trials with those of all trials: an axis on which they are "
    "alike has a small share.",
    "fANOVA": "fANOVA fits a forest to the scores, and computes how much of the variation in its predictions each axis "
    "explains alone; variation that only several axes explain together is in no share.",
}
"""Explanations of the evaluators of importance, by their names in the ledger."""


WHISKERS = (
    "Whiskers and parentheses: 95% intervals, from resampling the trials; shares without one order no axes. An axis "
    "whose interval overlaps with that of the first cannot be told apart from it."
)
OF_SOME_TRIALS = (
    "An axis that only some trials have is compared with the axes that all of these trials have, over their "
    "variation alone, and with no axis of other trials."
)
HOW = {
    "greedy": "In each round, every remaining axis is flipped alone to the best trial's value, and the flip with the "
    "best mean is kept.",
    "importance": (
        "The axes are flipped one after the other, the most important first; gains depend on earlier flips."
    ),
}
CHOSEN = "The kept flip was chosen with the seeds shown, which flatters its gain. This does not apply to the two ends."


def bars_of_all_trials(contents: Contents) -> pd.DataFrame:
    """Return the shares of the axes that every trial has."""
    axes = dict(zip(contents.study.headings, contents.study.axes, strict=True))
    bars = search_features.importance_data(contents)
    return bars[[axis not in axes or not axes[axis].when for axis in bars["axis"]]]


def which_axis_text(contents: Contents) -> str:
    """Say which axis has the largest share; "" before it was computed."""
    bars = bars_of_all_trials(contents)
    if bars.empty:
        return ""
    num = int(bars["num_trials"].min())
    if num < FEW:
        limit = f"below about {FEW} these shares are mostly chance"
        return f"{counted(num, 'trial')} cannot tell which axis matters: {limit}."
    return order_text(bars)


def order_text(bars: pd.DataFrame) -> str:
    """Say which axes are not significantly ordered; "" without intervals."""
    bars = bars.dropna(subset=["low", "high"])
    texts = []
    for evaluator, part in bars.groupby("evaluator"):
        first, others = search_features.not_told_apart(part)
        if len(part) > 1 and len(others) == len(part) - 1:
            texts.append(f"{evaluator} cannot order the axes: every interval overlaps with that of {first}.")
        elif others:
            texts.append(
                f"{evaluator}: {first} has the largest share, but {join_words(others)} cannot be told apart from it."
            )
        elif len(part) > 1:
            texts.append(f"{evaluator}: {first} has the largest share, apart from all others.")
    return " ".join(texts)


def importance(contents: Contents) -> str:
    """Return section "Importance"; "" before it was computed."""
    rows = contents.importance
    if rows.empty:
        return ""
    headings = contents.study.heading_of
    wide = rows.pivot_table(index="axis", columns="evaluator", values="value")
    order = wide.mean(axis=1).sort_values(ascending=False).index
    texts = rows.assign(text=[show_with_interval(*one) for one in rows[["value", "low", "high"]].values])
    shown = texts.pivot(index="axis", columns="evaluator", values="text")
    shown = shown.reindex(index=order, columns=wide.columns).fillna("")
    shown.insert(0, "axis", [headings.get(axis, axis) for axis in order])
    axes = {axis.name: axis for axis in contents.study.axes}
    is_of_all = rows["axis"].map(lambda name: name not in axes or not axes[name].when)
    num = int((rows[is_of_all] if is_of_all.any() else rows)["num_trials"].min())
    explained = " ".join(EVALUATORS[name] for name in dict.fromkeys(rows["evaluator"]) if name in EVALUATORS)
    note = (
        f"Share of each axis in the variation of {contents.label}, over {counted(num, 'trial')}. {explained}"
    )
    bars = search_features.importance_data(contents)
    if not is_of_all.all():
        numbers = rows.drop_duplicates("axis").set_index("axis")["num_trials"]
        shown["among"] = [
            f"{show_condition(axes[axis]) if axis in axes else ''}: {counted(numbers[axis], 'trial')}".lstrip(
                ": "
            )
            for axis in order
        ]
        note = f"{note} {OF_SOME_TRIALS}"
    note = f"{note} {WHISKERS if bars['low'].notna().any() else ''}"
    table = page.table(shown, name="importance")
    figure = page.figure(search_features.draw_importance(bars), "importance", bars)
    few = page.paragraph(which_axis_text(contents), "note") if num < FEW else ""
    told = page.paragraph(order_text(bars_of_all_trials(contents)))
    return page.section("Importance", told, few, figure, table, page.how_to_read(note.strip()))


def ablation_path(contents: Contents) -> str:
    """Return section "Ablation path"; "" before one of its points has ended."""
    state, frame = contents.search.path, search_features.path_data(contents)
    if state is None or frame.empty:
        return ""
    seeds = join_words(map(str, state.seeds))
    num = len(state.axes)
    note = (
        f"From the {BASE} to the best trial ({state.best.trial}), which differ on {num} "
        f"{'axis' if num == 1 else 'axes'}. {HOW[state.order]} Every point is retrained with seeds that were not used"
        f" in the search: {seeds}. Intervals are Student's t over seeds; gains are paired by seed."
    )
    parts = []
    if state.order == "greedy":
        parts.append(page.paragraph(CHOSEN, "note"))
    if not state.is_over:
        parts.append(
            page.paragraph("The path is not finished: only points that have ended are shown.", "note")
        )
    less_is_better = contents.study.objective.direction == "minimize"
    drawn = search_features.draw_path(frame, contents.label, contents.decimals, less_is_better=less_is_better)
    parts.append(page.figure(drawn, "path", frame))
    shown = path_table(frame, contents.decimals, less_is_better=less_is_better)
    if len(shown):
        parts.append(page.table(shown, name="path"))
    return page.section("Ablation path", *parts, page.how_to_read(note))


def path_answer(contents: Contents) -> str:
    """Name the kept flips whose gains exclude 0; "" without a path that is over."""
    state, frame = contents.search.path, search_features.path_data(contents)
    if state is None or not state.is_over:
        return ""
    flips = frame[frame["is_kept"] & (frame["place"] > 0)]
    sure = flips[flips["gain_low"] * flips["gain_high"] > 0]
    gains = (f"{axis} {show_signed(gain, contents.decimals)}" for axis, gain in sure[["axis", "gain"]].values)
    told = f"{join_words(gains)} (95% intervals, each alone)" if len(sure) else "no interval excludes 0"
    measure = contents.label.removesuffix(UNIT)
    return f"Gains and losses on {measure} along the ablation path: {told}."


def path_table(frame: pd.DataFrame, decimals: int, *, less_is_better: bool = False) -> pd.DataFrame:
    """Return a row per kept flip as text, with its gain and interval.

    `total` is the gain since the base; then come the gains of the other flips, the best first.
    """
    start = frame.loc[frame["place"] == 0, "mean"]
    rows = []
    for row in frame[frame["is_kept"] & (frame["place"] > 0)].to_dict("records"):
        others = frame[(frame["place"] == row["place"]) & ~frame["is_kept"]]
        beside = others.sort_values("gain", ascending=less_is_better, kind="stable")
        interval = (
            ""
            if pd.isna(row["gain_low"])
            else f" ({show_signed(row['gain_low'], decimals)} to {show_signed(row['gain_high'], decimals)})"
        )
        rows.append(
            {
                "axis": row["axis"],
                "from": row["before"],
                "to": row["after"],
                "gain": f"{show_signed(row['gain'], decimals)}{interval}",
                "total": show_signed(row["mean"] - start.iloc[0], decimals) if len(start) else "",
                "gains of the other flips": ", ".join(
                    f"{axis} {show_signed(gain, decimals) or 'failed'}"
                    for axis, gain in beside[["axis", "gain"]].itertuples(index=False)
                ),
            }
        )
    table = pd.DataFrame(rows, dtype=object)
    return table.loc[:, [name for name in table if table[name].any()]]
