"""Outcomes of attacks, input by input, as item scores of their figures."""

import numpy as np

from rse_study.results.attack_file import AttackFolder
from rse_study.results.item_scores import PER_CENT, ItemScores

SHARES = {
    "success_rate": {"succeeded": PER_CENT, "failed": 0.0, "skipped": np.nan},
    "accuracy_under_attack": {"succeeded": 0.0, "failed": PER_CENT, "skipped": 0.0},
}
"""what each outcome adds to a figure that is a mean over inputs"""


def attack_items(attacks: AttackFolder, task: str, recipe: str, figure: str) -> tuple[str, ItemScores | None]:
    """Return the fingerprint of an attack and the scores of its inputs; "" without that attack."""
    summary, outcomes = (
        frame[(frame["set"] == task.removeprefix("attack-")) & (frame["recipe"] == recipe)]
        for frame in (attacks.summary, attacks.outcomes)
    )
    if summary.empty:
        return "", None
    rows = outcomes[outcomes["is_counted"].astype(bool)].sort_values("index")
    if figure in SHARES:
        items = ItemScores.of(rows["outcome"].map(SHARES[figure]).to_numpy(float))
    elif figure == "spearman_under_attack":
        items = ItemScores.of(
            rows["adversarial_scores"].str[0].to_numpy(float), rows["label"].to_numpy(float)
        )
    else:
        items = None
    return str(summary["fingerprint"].iloc[0]), items
