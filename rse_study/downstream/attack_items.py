"""Outcomes of attacks, input by input, as item scores of their figures."""

from collections.abc import Iterable, Sequence
from math import nan
from pathlib import Path

from rse_study.results.files.attack_file import (
    AGAIN,
    OutcomeRow,
    SummaryRow,
    outcomes_path,
    parse_outcomes,
    read_lines,
)
from rse_study.results.item_scores import ItemScores

SHARES = {
    "success_rate": {"succeeded": 100.0, "failed": 0.0, "skipped": nan},
    "accuracy_under_attack": {"succeeded": 0.0, "failed": 100.0, "skipped": 0.0},
}
"""what each outcome adds to a figure that is a mean over inputs"""


def kept_outcomes(folder: Path, attack: SummaryRow, indices: Iterable[int]) -> list[OutcomeRow]:
    """Read the stored outcomes of these inputs, in the order of their indices."""
    path = outcomes_path(folder, attack.set, attack.recipe)
    known = parse_outcomes(read_lines(path, AGAIN)[1], path, AGAIN)
    return [known[index] for index in sorted(indices)]


def attack_items(outcomes: Sequence[OutcomeRow], figure: str) -> ItemScores | None:
    """Return the scores of the inputs behind a figure.

    None of a figure that is neither a mean over inputs nor a correlation.
    """
    if figure in SHARES:
        return ItemScores.of([SHARES[figure][one.outcome] for one in outcomes])
    if figure == "spearman_under_attack":
        return ItemScores.of([one.adversarial_scores[0] for one in outcomes], [one.label for one in outcomes])
    return None
