"""The rows of `benchmarks.own_base` as frames, for Parquet files and figures."""

from typing import Any

import pandas as pd

from benchmarks.own_base.plan import BaseRun, OwnBasePlan, TextAmount
from benchmarks.own_base.rows import BaseRow, OwnBaseRows, ScoreRow

OVERLAP = "token_overlap"
COUNTS = ("num_sentences", "num_words", "num_wikipedia", "seed", "simcse_seed", "num_pieces", "num_steps")
"""columns of whole numbers that may be missing"""
ORDER = (OVERLAP, "untrained", "own")


def score_frame(plan: OwnBasePlan, rows: OwnBaseRows) -> pd.DataFrame:
    """Return a row for each score, and one for token overlap.

    Columns: encoder, what is known of its text, seed, simcse_seed, dev_before and dev_after (Spearman x100), failure,
    seconds of SimCSE; of a base how its masked LM did, 0..1; the machine.
    """
    amounts = {one.num_sentences: one for one in plan.amounts}
    scores = sorted(rows.scores.values(), key=lambda row: (ORDER.index(row.encoder), *_numbers(row)))
    made = [
        _score(row, amounts[row.num_sentences], rows.bases.get(BaseRun(row.num_sentences, row.seed)))
        for row in scores
        if row.num_sentences in amounts
    ]
    overlap = {"encoder": OVERLAP, "dev_before": plan.token_overlap}
    columns = [*_COLUMNS, "cpu", "torch", "commit"]
    frame = pd.DataFrame([overlap, *made], columns=columns)
    return frame.astype(dict.fromkeys(COUNTS, "Int64"))


def loss_frame(rows: OwnBaseRows) -> pd.DataFrame:
    """Return every point of the masked LMs' curves: num_sentences, seed, step, loss."""
    points = [
        (row.num_sentences, row.seed, step, loss)
        for row in sorted(rows.bases.values(), key=lambda one: (one.num_sentences, one.seed))
        for step, loss in row.losses
    ]
    return pd.DataFrame(points, columns=["num_sentences", "seed", "step", "loss"])


_COLUMNS = (
    *("encoder", "num_sentences", "num_words", "num_wikipedia", "text", "seed", "simcse_seed"),
    *("dev_before", "dev_after", "failure", "seconds"),
    *("num_pieces", "num_steps", "masked_accuracy", "unigram_accuracy", "base_seconds"),
)


def _score(row: ScoreRow, amount: TextAmount, base: BaseRow | None) -> dict[str, Any]:
    content = row.model_dump(exclude={"machine"}) | row.machine
    content |= {
        "num_words": amount.num_words,
        "num_wikipedia": amount.num_wikipedia,
        "text": amount.text,
    }
    if base is None or row.encoder != "own":
        return content
    names = ("num_pieces", "num_steps", "masked_accuracy", "unigram_accuracy")
    return content | {name: getattr(base, name) for name in names} | {"base_seconds": base.seconds}


def _numbers(row: ScoreRow) -> tuple[int, int, int]:
    return row.num_sentences, row.seed, row.simcse_seed
