"""The section of a search's axes: how much of the variation each carries."""

import pandas as pd

from analysis import page
from analysis.contents import Contents
from analysis.figures.importance import draw_importance, importance_data
from analysis.formats import show_number
from analysis.phrases import counted

FEW = 30  # trials below which an importance is mostly noise
EVALUATORS = {
    "PED-ANOVA": "PED-ANOVA compares the values of the best trials with those of all: an axis on which they are alike "
    "has a small share."
}
"""By the name in the ledger: what an evaluator of importance looks at."""


def by_what(rows: pd.DataFrame) -> str:
    """What the evaluators compare, where there is a word to say of them."""
    return " ".join(EVALUATORS[name] for name in dict.fromkeys(rows["evaluator"]) if name in EVALUATORS)


def importance(contents: Contents) -> str:
    """Return each axis' share in the objective's variation, by evaluator.

    Nothing where nobody computed it.
    """
    rows = contents.importance
    if rows.empty:
        return ""
    headings = dict(zip((axis.name for axis in contents.study.axes), contents.study.headings, strict=True))
    wide = rows.pivot_table(index="axis", columns="evaluator", values="value")
    wide = wide.loc[wide.mean(axis=1).sort_values(ascending=False).index]
    shown = {"axis": [headings.get(axis, axis) for axis in wide.index]}
    shown |= {str(name): [show_number(value) for value in wide[name]] for name in wide.columns}
    num = int(rows["num_trials"].min())
    note = f"Share of each axis in the variation of {contents.label}, over {counted(num, 'trial')}. {by_what(rows)}"
    bars = importance_data(contents)
    table = page.table(pd.DataFrame(shown, dtype=object), name="importance")
    parts = [page.paragraph(note.strip()), page.figure(draw_importance(bars), "importance", bars), table]
    if num < FEW:
        limit = f"below about {FEW} these shares are mostly chance"
        parts.insert(
            1, page.paragraph(f"{counted(num, 'trial')} cannot tell which axis matters: {limit}.", "note")
        )
    return page.section("Importance", *parts)
