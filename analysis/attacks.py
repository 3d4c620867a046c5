"""The page of a folder of attacks: their table, costs, and every input."""

from pathlib import Path
from typing import Any

import pandas as pd

from analysis import page
from analysis.figures.attacks import (
    MAX_INPUTS,
    draw_falls,
    draw_outcomes,
    draw_queries,
    falls_data,
    outcomes_data,
    queries_data,
)
from analysis.figures.style import SEED_COLOURS, SEED_SYMBOLS
from analysis.formats import counted, join_words, show_number
from analysis.sections.inputs import STYLE, inputs
from rse_study.results.files.attack_file import FURTHEST, SIMILARITY, AttackFolder, read_attacks
from rse_study.results.statistics import share_interval

WEAK = "\N{DAGGER}"
COUNTING = (
    "Inputs that the victim misclassifies without an attack are skipped. Success is the share of the other inputs "
    "that fell, with its 95% interval (Wilson). Queries are a mean over the same inputs, and words changed are a "
    "mean over those that fell. The intervals are about other inputs of the same kind: they do not cover how much "
    "another victim, fine-tuned with another seed, would differ."
)
WEAK_VICTIM = (
    "The victim is weak: its dev accuracy is low, so successful attacks on it say little about the encoder."
)
WEAK_SCORES = (
    "The similarity scores are weak: without an attack all pairs score alike, or there are too few pairs to rank. "
    "Such scores are not robust just because no attack can move them."
)
GOALS = {
    "deviation": "Under deviation, a pair falls if its score is tau or more from gold.",
    "drift": "Under drift, a pair falls if its score is tau or more from its clean score.",
    FURTHEST: "Under maximise, scores are moved as far as possible: there is no threshold, so no pair falls or "
    "withstands. In the list below, every pair that moved counts as succeeded.",
}
SIDE_BY_SIDE = (
    "Each column is an input and each row an attack, so you see which inputs fell to one attack and not to another. "
    'The texts are in the list below; its order "input by input" puts the attacks on one input together.'
)
READING = "The cost and effect of each attack. The more robust an encoder, the further to the top left are its points."


def opening(attacks: AttackFolder) -> str:
    """Return the title, what was attacked, and how it is counted."""
    victims = attacks.summary.drop_duplicates(["set", "victim"])
    told = [
        f"On {row.set} the similarity scores themselves were attacked."
        if row.victim == SIMILARITY
        else f"The victim on {row.set} was {row.victim}, with a dev accuracy of {row.victim_dev_accuracy:.1%}."
        for row in victims.itertuples()
    ]
    question = "How many inputs does a classifier, fine-tuned from the encoder, lose to changed words?"
    parts = [page.paragraph(question, "question"), page.paragraph(" ".join([COUNTING, *told]))]
    return "\n".join(["<h1>Under attack</h1>", *parts])


def comparison(attacks: AttackFolder) -> str:
    """Return section "Attacks": the table and the figures."""
    if attacks.summary.empty:
        return page.section("Attacks", page.paragraph("None has ended yet."))
    notes = [weak_note(attacks.summary), goal_note(attacks.summary), left_out(attacks.outcomes)]
    table = page.table(summary_table(attacks.summary), kind="attacks", name="attacks")
    return page.section("Attacks", table, *map(page.paragraph, notes), figures(attacks))


def summary_table(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the results as text, a row per attack that has ended."""
    rows = [
        {
            "set": row.set, "recipe": row.recipe + (f" {WEAK}" if row.weak else ""), "inputs": str(row.num_inputs),
            "skipped": str(row.num_skipped), "accuracy": percent(row.original_accuracy),
            "under attack": percent(row.accuracy_under_attack), "success": percent(row.success_rate),
            "95%": success_interval(row), "queries": show_number(row.mean_queries, 1),
            "words changed": percent(row.share_of_words_changed), "goal": goal_text(row.goal, row.tau),
            "Spearman": show_number(row.clean_spearman, 2),
            "Spearman under attack": show_number(row.spearman_under_attack, 2),
            "drift": show_number(row.mean_drift, 2), "what it is": row.label,
        }
        for row in summary.itertuples()
    ]  # fmt: skip
    table = pd.DataFrame(rows, dtype=object)
    if (summary["victim"] == SIMILARITY).any():
        return table
    return table.drop(columns=["goal", "Spearman", "Spearman under attack", "drift"])


def goal_text(goal: str | None, tau: float | None) -> str:
    """Return a goal such as "drift, tau 1" or "maximise"; "" if unknown."""
    if pd.isna(goal):
        return ""
    return str(goal) if pd.isna(tau) else f"{goal}, tau {tau:g}"


def percent(share: float) -> str:
    """Return a share as "12.3%"; "" for NaN."""
    return "" if pd.isna(share) else f"{share:.1%}"


def success_interval(row: Any) -> str:
    """Return the interval of the success rate in per cent; "" without a rate."""
    if pd.isna(row.success_rate):
        return ""
    interval = share_interval(row.num_succeeded, row.num_succeeded + row.num_failed)
    return f"{100 * interval.low:.1f} to {100 * interval.high:.1f}"


def weak_note(summary: pd.DataFrame) -> str:
    """Explain the mark of weak victims; "" if it is not used."""
    victims = {*summary.loc[summary["weak"].astype(bool), "victim"]}
    notes = [WEAK_VICTIM] if victims - {SIMILARITY} else []
    notes += [WEAK_SCORES] if SIMILARITY in victims else []
    return f"{WEAK} {' '.join(notes)}" if notes else ""


def goal_note(summary: pd.DataFrame) -> str:
    """Explain the goals in the table."""
    return " ".join(text for goal, text in GOALS.items() if (summary["goal"] == goal).any())


def left_out(outcomes: pd.DataFrame) -> str:
    """Say which inputs are in the list below but in none of the figures."""
    others = outcomes[~outcomes["is_counted"].astype(bool)]
    if others.empty:
        return ""
    parts = [
        f"{counted(len(part), 'input')} of {attack_set} under {recipe}"
        for (attack_set, recipe), part in others.groupby(["set", "recipe"], sort=False)
    ]
    return f"The list below also has {join_words(parts)}; the figures show the last request's inputs alone."


def figures(attacks: AttackFolder) -> str:
    """Return queries against accuracy lost, and per set the effort of the attacks."""
    summary = attacks.summary
    colours, symbols = (
        {name: cycle[place % len(cycle)] for place, name in enumerate(dict.fromkeys(summary[column]))}
        for column, cycle in (("recipe", SEED_COLOURS), ("set", SEED_SYMBOLS))
    )
    points, furthest = queries_data(summary), summary[summary["goal"] == FURTHEST]
    if points.empty:
        reason = "every input was skipped" if furthest.empty else "no input could fall"
        return page.paragraph(f"No figure: {reason}.")
    parts = [page.paragraph(READING), page.figure(draw_queries(points, colours, symbols), "queries", points)]
    attack_of = pd.MultiIndex.from_frame(attacks.outcomes[["set", "recipe"]])
    could_fall = ~attack_of.isin(pd.MultiIndex.from_frame(furthest[["set", "recipe"]]))
    shown = attacks.outcomes[attacks.outcomes["is_counted"].astype(bool) & could_fall]
    for number, (name, part) in enumerate(shown.groupby("set", sort=False)):
        parts += [f"<h3>Effort on {page.escape(str(name))}</h3>", falls(part, colours, number)]
    return "".join([*parts, *side_by_side(attacks)])


def side_by_side(attacks: AttackFolder) -> list[str]:
    """Return a figure for each set that several recipes attacked, input by input."""
    frame, parts = outcomes_data(attacks.outcomes), []
    for number, (name, part) in enumerate(frame.groupby("set", sort=False)):
        if part["recipe"].nunique() > 1:
            title = f"<h3>Attacks side by side on {page.escape(str(name))}</h3>"
            many = part["input"].nunique() > MAX_INPUTS
            shown = f" The first {MAX_INPUTS} inputs are drawn; the download has all." if many else ""
            parts += [title, page.paragraph(SIDE_BY_SIDE + shown)]
            parts.append(page.figure(draw_outcomes(part), f"outcomes-{number}", part))
    return parts


def falls(outcomes: pd.DataFrame, colours: dict[str, str], number: int) -> str:
    """Return the two figures of one set, side by side."""
    num_changed = outcomes["changed"].map(len)
    needs = {
        "queries at most": (outcomes["num_queries"], True),
        "words changed at most, %": (100 * num_changed / outcomes["num_words"].clip(lower=1), False),
    }
    frames = {text: (falls_data(outcomes, needed), is_log) for text, (needed, is_log) in needs.items()}
    drawn = [
        page.figure(draw_falls(frame, text, colours, is_log), f"falls-{number}-{place}", frame)
        for place, (text, (frame, is_log)) in enumerate(frames.items())
        if len(frame)
    ]
    return page.grid(drawn, wide=True) if drawn else page.paragraph("No input fell.")


def write_attacks(folder: Path, out: Path | None = None) -> Path:
    """Write the folder's page, by default `attacks.html` in it; return its path."""
    path = folder / "attacks.html" if out is None else out
    return page.write(path, render(read_attacks(folder)))


def render(attacks: AttackFolder) -> str:
    """Return the page as HTML, which depends on the folder alone."""
    return page.page("Under attack", [opening(attacks), comparison(attacks), inputs(attacks.outcomes)], STYLE)
