"""Outcomes of attacks, input by input, as item scores of their figures."""

import numpy as np

from rse_study.results.files.attack_file import AttackFolder
from rse_study.results.item_scores import ItemScores

SHARES = {
    "success_rate": {"succeeded": 100.0, "failed": 0.0, "skipped": np.nan},
    "accuracy_under_attack": {"succeeded": 0.0, "failed": 100.0, "skipped": 0.0},
}
"""what each outcome adds to a figure that is a mean over inputs"""


def attack_items(attacks: AttackFolder, name: str, figure: str, fingerprint: str) -> ItemScores | None:
    """Return the scores of the inputs behind an attack's figure; None without it."""
    of_set, _, recipe = name.removeprefix("attack-").partition("/")
    summary, outcomes = (
        frame[(frame["set"] == of_set) & (frame["recipe"] == recipe)]
        for frame in (attacks.summary, attacks.outcomes)
    )
    if summary.empty or fingerprint not in ("", summary["fingerprint"].iloc[0]):
        return None
    rows = outcomes[outcomes["is_counted"].astype(bool)].sort_values("index")
    if figure in SHARES:
        return ItemScores.of(rows["outcome"].map(SHARES[figure]).to_numpy(float))
    under_attack = rows["adversarial_scores"].str[0].to_numpy(float)
    is_known = figure == "spearman_under_attack"
    return ItemScores.of(under_attack, rows["label"].to_numpy(float)) if is_known else None
