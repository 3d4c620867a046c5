"""A page that shows chosen studies or rows side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path

import pandas as pd

from analysis import page
from analysis.comparison_table import show_interval
from analysis.figures.forest import COLUMNS, bounded, draw_forest
from analysis.formats import show_number, show_signed
from analysis.phrases import counted
from analysis.sections.scores import MAX_ROWS, NO_FIGURE
from rse_study.results.comparing.comparisons import ComparedContrast
from rse_study.results.comparing.verdicts import verdict_of

LEGEND = (
    "The first minus each of the others, paired by seed. The intervals hold for all of these differences at once. "
    "Undecided does not mean that there is no difference."
)


@dataclass(frozen=True)
class ChosenRows:
    """Rows of one study that a reader chose."""

    name: str
    """the reader's words: a study, or STUDY:ROW"""
    question: str
    table: pd.DataFrame


@dataclass(frozen=True)
class ChosenPair:
    """Two rows to compare, or the reason why they cannot be compared."""

    name: str
    contrast: ComparedContrast | None
    problem: str = ""


def write_chosen(path: Path, label: str, chosen: Sequence[ChosenRows], pairs: Sequence[ChosenPair]) -> Path:
    """Write the page that compares the first choice with the others; return its path."""
    return page.write(path, render_chosen(label, chosen, pairs))


def render_chosen(label: str, chosen: Sequence[ChosenRows], pairs: Sequence[ChosenPair]) -> str:
    """Return the page as HTML."""
    title = f"{chosen[0].name} and {counted(len(chosen) - 1, 'other')}"
    questions = {one.name: page.escape(one.question) for one in chosen}
    scores = page.table(scores_table(chosen), (), "long", "scores")
    decided = next((one.contrast for one in pairs if one.contrast), None)
    rule = decided.criterion.sentence(decided.num_together) if decided else ""
    differences = page.table(pairs_table(pairs), (), "long", "differences")
    sections = [
        f"<h1>{page.escape(title)}</h1>",
        page.paragraph(label, "question"),
        page.facts(questions),
        page.section(
            "Differences", page.paragraph(f"{LEGEND} {rule}".strip()), differences, _figure(pairs, label)
        ),
        page.section("Scores", scores),
    ]
    return page.page(title, sections)


def scores_table(chosen: Sequence[ChosenRows]) -> pd.DataFrame:
    """Show every row as text: study, row, mean, SD, seeds and the value of each seed."""
    seeds = sorted({seed for one in chosen for seed in one.table.columns})
    rows = []
    for one in chosen:
        for row, values in one.table.iterrows():
            known = values.dropna()
            numbers = {"mean": show_number(known.mean()), "SD": show_number(known.std(ddof=1))}
            by_seed = {f"seed {seed}": show_number(values.get(seed, float("nan"))) for seed in seeds}
            rows.append(
                {"row": str(row), "chosen as": one.name, **numbers, "seeds": str(len(known)), **by_seed}
            )
    return pd.DataFrame(rows, dtype=object)


def pairs_table(pairs: Sequence[ChosenPair]) -> pd.DataFrame:
    """Show every difference as text, or the reason why there is none."""
    rows = []
    for pair in pairs:
        one = pair.contrast
        told = {
            "difference": show_signed(one.mean),
            "95%, all at once": show_interval(one.deciding),
            "verdict": verdict_of(one),
            "seeds": str(one.n),
            "p (sign-flip)": show_number(one.p_exact, 4),
            "p (Holm)": show_number(one.p_holm, 4),
            "g": show_signed(one.effect),
        } if one else {}  # fmt: skip
        rows.append({"pair": pair.name, **told, "remark": pair.problem})
    shown = ("difference", "95%, all at once", "verdict", "seeds", "p (sign-flip)", "p (Holm)", "g")
    frame = pd.DataFrame(rows, columns=["pair", *shown, "remark"], dtype=object).fillna("")
    return frame if frame["remark"].any() else frame.drop(columns="remark")


def _figure(pairs: Sequence[ChosenPair], label: str) -> str:
    rows = [
        ("", label, pair.name, "", one.mean, one.deciding.low, one.deciding.high, one.n, nan, 2)
        for pair in pairs
        if (one := pair.contrast)
    ]
    if not 0 < len(rows) <= MAX_ROWS:
        return page.paragraph(NO_FIGURE if rows else "")
    frame = bounded(pd.DataFrame(rows, columns=COLUMNS))
    drawn = draw_forest(frame).update_xaxes(title="difference")
    return page.figure(drawn, "differences", frame)
