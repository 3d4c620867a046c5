"""Every attacked input to browse: both texts, and the victim's scores of both."""

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from itertools import pairwise
from math import isfinite
from typing import Any

import pandas as pd

from analysis import page

# The attacks' definition of a word, which positions count; rse_study/evaluation/attacks/__init__.py says why.
WORD = re.compile(r"(?![-'_*@])[\w'\-_*@`×˗]+")
Pieces = list[str]
"""Unchanged and changed pieces in turn; the first and the last are unchanged, and some are empty."""
ALL = ""  # the choice that filters nothing
OUTCOMES = {
    "succeeded": "succeeded: fell",
    "failed": "failed: withstood",
    "skipped": "skipped: misclassified without an attack",
}
ORDERS = {
    "index": "in the order of the set",
    "input": "input by input",
    "queries": "most queries first",
    "changed": "most words changed first",
}
STYLE = (files("analysis.sections") / "inputs.css").read_text(encoding="utf-8")
SCRIPT = (files("analysis.sections") / "inputs.js").read_text(encoding="utf-8")
LEGEND = (
    "The original text and the best text that the attack found, with the changed words marked. Below each text are "
    "the victim's scores: the probability of each class, with the true class underlined and the chosen one bold."
)


def marked(
    original: Sequence[str], adversarial: Sequence[str], changed: Sequence[int]
) -> tuple[list[Pieces], list[Pieces]]:
    """Return the pieces of both texts; `changed` counts words through all parts.

    An adversarial part that differs elsewhere too, or lost a word, is one unchanged piece.
    """
    before, after, num_before = [], [], 0
    for text, other in zip(original, adversarial, strict=True):
        words = list(WORD.finditer(text))
        here = [place - num_before for place in sorted(changed) if 0 <= place - num_before < len(words)]
        pieces = _cut(text, [words[place].span() for place in here])
        before.append(pieces)
        after.append(_around(pieces[::2], other) or [other])
        num_before += len(words)
    return before, after


def _cut(text: str, spans: Sequence[tuple[int, int]]) -> Pieces:
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


def _around(kept: Sequence[str], text: str) -> Pieces | None:
    """Cut the text at the first match of each kept piece; None if they do not fit."""
    if not text.startswith(kept[0]):
        return None
    pieces, cursor = [kept[0]], len(kept[0])
    for number, plain in enumerate(kept[1:], start=2):
        last_place = len(text) - len(plain)
        place = text.find(plain, cursor + 1) if number < len(kept) else last_place
        if place <= cursor or not text.startswith(plain, place):
            return None
        pieces += [text[cursor:place], plain]
        cursor = place + len(plain)
    return pieces if cursor == len(text) else None


def inputs(outcomes: pd.DataFrame) -> str:
    """Return section "Inputs": filters, a list, and all inputs as JSON for its script."""
    if outcomes.empty:
        return page.section("Inputs", page.paragraph("None yet."))
    options = {name: {ALL: "all"} | {one: one for one in outcomes[name]} for name in ("set", "recipe")}
    there = set(outcomes["outcome"])
    options["outcome"] = {ALL: "all"} | {name: text for name, text in OUTCOMES.items() if name in there}
    options["order"] = ORDERS
    choices = "".join(choice(name, texts) for name, texts in options.items())
    choices += '<label>text <input id="inputs-search" type="search" placeholder="in either text"></label>'
    listing = '<div id="inputs-list"></div>'
    content = "".join(
        f'<script type="application/json" id="inputs-{name}">{page.embedded(given)}</script>'
        for name, given in (("data", shown(outcomes)), ("classes", class_names(outcomes)))
    )
    return page.section(
        "Inputs", page.paragraph(LEGEND), f'<div class="choices">{choices}</div>', turning("above"), listing,
        turning("below"), content, f"<script>{SCRIPT}</script>",
    )  # fmt: skip


def choice(name: str, options: Mapping[str, str]) -> str:
    """Return a labelled drop-down list."""
    inside = "".join(
        f'<option value="{page.escape(value)}">{page.escape(shown)}</option>'
        for value, shown in options.items()
    )
    return f'<label>{name} <select id="inputs-{name}">{inside}</select></label>'


def turning(place: str) -> str:
    """Return the buttons that turn pages, above or below the list."""
    return (
        f'<div class="turning" id="inputs-{place}"><button type="button" class="previous">previous</button> '
        '<button type="button" class="next">next</button> <span class="where"></span></div>'
    )


def shown(outcomes: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the outcomes for the script, with texts cut into pieces (see `marked`)."""
    rows = []
    for row in outcomes.itertuples():
        before, after = marked(row.original, row.adversarial, row.changed)
        rows.append(
            {
                "set": row.set, "recipe": row.recipe, "index": row.index, "outcome": row.outcome,
                "label": row.label, "queries": row.num_queries, "words": row.num_words,
                "changed": len(row.changed), "before": before, "after": after if before != after else None,
                "scoresBefore": numbers(row.original_scores), "scoresAfter": numbers(row.adversarial_scores),
            }
        )  # fmt: skip
    return rows


def class_names(outcomes: pd.DataFrame) -> dict[str, list[str]]:
    """Return the known names of classes by "set/recipe"."""
    files = outcomes.drop_duplicates(["set", "recipe"])
    return {f"{row.set}/{row.recipe}": list(row.classes) for row in files.itertuples() if row.classes}


def numbers(scores: Iterable[float]) -> list[float | None]:
    """Return scores rounded to four decimals to save space; None for NaN."""
    return [round(score, 4) if isfinite(score) else None for score in scores]
