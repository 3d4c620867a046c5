"""Outcomes of attacks, input by input, as item scores of their figures."""

from pathlib import Path

import numpy as np
import pandas as pd

from rse_study.errors import InputError
from rse_study.results.attack_file import AttackFolder, is_attack_folder, read_attacks
from rse_study.results.item_scores import ItemScores


def attacks_in(folder: Path) -> AttackFolder | None:
    """Return the attacks in a folder; None if there are none, or they are damaged."""
    try:
        return read_attacks(folder) if is_attack_folder(folder) else None
    except InputError:
        return None


def attack_items(attacks: AttackFolder, task: str, recipe: str, figure: str) -> tuple[str, ItemScores] | None:
    """Return the fingerprint and the scores of the inputs behind a figure of one attack.

    A success rate is a mean over inputs that were not skipped, an accuracy one over all inputs.
    """
    name = task.removeprefix("attack-")
    summary, outcomes = (
        frame[(frame["set"] == name) & (frame["recipe"] == recipe)]
        for frame in (attacks.summary, attacks.outcomes)
    )
    if summary.empty:
        return None
    rows = outcomes[outcomes["is_counted"].astype(bool)].sort_values("index")
    scores, gold = _scores(rows, figure)
    items = None if scores is None else ItemScores.of(scores, gold, index=rows["index"].to_numpy())
    return None if items is None else (str(summary["fingerprint"].iloc[0]), items)


def _scores(rows: pd.DataFrame, figure: str) -> tuple[np.ndarray | None, np.ndarray | None]:
    is_skipped = (rows["outcome"] == "skipped").to_numpy()
    if figure in ("success_rate", "accuracy_under_attack", "original_accuracy"):
        of_outcome = {
            "success_rate": {"succeeded": 100.0, "failed": 0.0, "skipped": np.nan},
            "accuracy_under_attack": {"succeeded": 0.0, "failed": 100.0, "skipped": 0.0},
            "original_accuracy": {"succeeded": 100.0, "failed": 100.0, "skipped": 0.0},
        }[figure]
        return rows["outcome"].map(of_outcome).to_numpy(float), None
    clean, attacked = (rows[f"{when}_scores"].str[0].to_numpy(float) for when in ("original", "adversarial"))
    gold = rows["label"].to_numpy(float)
    found: dict[str, tuple[np.ndarray, np.ndarray | None]] = {
        "clean_spearman": (clean, gold),
        "spearman_under_attack": (attacked, gold),
        "drift": (np.where(is_skipped, np.nan, np.abs(attacked - clean)), None),
    }
    return found.get(figure, (None, None))
