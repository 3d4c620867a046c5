"""Every attacked input to browse: both texts, and the victim's scores of both."""

from collections.abc import Iterable
from importlib.resources import files
from math import isfinite
from typing import Any

import pandas as pd

from analysis import page
from analysis.marked import marked

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


def inputs(outcomes: pd.DataFrame) -> str:
    """Return section "Inputs": filters, a list, and all inputs as JSON for its script."""
    if outcomes.empty:
        return page.section("Inputs", page.paragraph("None yet."))
    known = {name: dict.fromkeys(outcomes[name]) for name in ("set", "recipe", "outcome")}
    verdicts = [(name, text) for name, text in OUTCOMES.items() if name in known["outcome"]]
    choices = "".join(
        [
            choice("set", "set", [(ALL, "all"), *((name, name) for name in known["set"])]),
            choice("recipe", "recipe", [(ALL, "all"), *((name, name) for name in known["recipe"])]),
            choice("outcome", "outcome", [(ALL, "all"), *verdicts]),
            choice("order", "order", list(ORDERS.items())),
            '<label>text <input id="inputs-search" type="search" placeholder="in either text"></label>',
        ]
    )
    listing = '<div id="inputs-list"></div>'
    content = "".join(
        f'<script type="application/json" id="inputs-{name}">{page.embedded(given)}</script>'
        for name, given in (("data", shown(outcomes)), ("classes", class_names(outcomes)))
    )
    return page.section(
        "Inputs", page.paragraph(LEGEND), f'<div class="choices">{choices}</div>', turning("above"), listing,
        turning("below"), content, f"<script>{SCRIPT}</script>",
    )  # fmt: skip


def choice(name: str, text: str, options: Iterable[tuple[str, str]]) -> str:
    """Return a labelled drop-down list."""
    inside = "".join(
        f'<option value="{page.escape(value)}">{page.escape(shown)}</option>' for value, shown in options
    )
    return f'<label>{page.escape(text)} <select id="inputs-{name}">{inside}</select></label>'


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
