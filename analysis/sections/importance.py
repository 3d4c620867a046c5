"""The section on the axes' shares in the objective's variation."""

import pandas as pd

from analysis import page
from analysis.contents import Contents
from analysis.figures.search_features import draw_importance, importance_data, not_told_apart
from analysis.formats import show_condition, show_with_interval
from analysis.phrases import counted, join_words

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


def bars_of_all_trials(contents: Contents) -> pd.DataFrame:
    """Return the shares of the axes that every trial has."""
    axes = dict(zip(contents.study.headings, contents.study.axes, strict=True))
    bars = importance_data(contents)
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
        first, others = not_told_apart(part)
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
    headings = dict(zip((axis.name for axis in contents.study.axes), contents.study.headings, strict=True))
    wide = rows.pivot_table(index="axis", columns="evaluator", values="value")
    wide = wide.loc[wide.mean(axis=1).sort_values(ascending=False).index]
    shown = {"axis": [headings.get(axis, axis) for axis in wide.index]}
    cells = rows.set_index(["evaluator", "axis"])[["value", "low", "high"]]
    shown |= {
        str(name): [
            show_with_interval(*cells.loc[(name, axis)]) if (name, axis) in cells.index else ""
            for axis in wide.index
        ]
        for name in wide.columns
    }
    axes = {axis.name: axis for axis in contents.study.axes}
    is_of_all = rows["axis"].map(lambda name: name not in axes or not axes[name].when)
    num = int((rows[is_of_all] if is_of_all.any() else rows)["num_trials"].min())
    explained = " ".join(EVALUATORS[name] for name in dict.fromkeys(rows["evaluator"]) if name in EVALUATORS)
    note = (
        f"Share of each axis in the variation of {contents.label}, over {counted(num, 'trial')}. {explained}"
    )
    bars = importance_data(contents)
    if not is_of_all.all():
        numbers = rows.drop_duplicates("axis").set_index("axis")["num_trials"]
        shown["among"] = [
            f"{show_condition(axes[axis]) if axis in axes else ''}: {counted(numbers[axis], 'trial')}".lstrip(
                ": "
            )
            for axis in wide.index
        ]
        note = f"{note} {OF_SOME_TRIALS}"
    note = f"{note} {WHISKERS if bars['low'].notna().any() else ''}"
    table = page.table(pd.DataFrame(shown, dtype=object), name="importance")
    figure = page.figure(draw_importance(bars), "importance", bars)
    note = f"{note} {order_text(bars_of_all_trials(contents))}"
    few = page.paragraph(which_axis_text(contents), "note") if num < FEW else ""
    return page.section("Importance", page.paragraph(note.strip()), few, figure, table)
