"""Natural language inference: accuracy, and averages over ANLI's rounds.

V-advCSE's Table 3 calls its last column `All` but prints the plain mean of the rounds (46.4 for 53.8, 42.8
and 42.6); its text has the mean over examples (46.2%). Both are rows here, under their own names.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rse_study.data.labelled import Labelled
from rse_study.data.labelled_sets import ANLI_ROUNDS
from rse_study.evaluation.attacks.victim import Victim
from rse_study.evaluation.classification import ClassifierScore, evaluate_accuracy
from rse_study.results.item_scores import ItemScores
from rse_study.spec import fingerprint_of

ANLI_ALL, ANLI_MEAN = "ANLI-all", "ANLI-mean"
"""Averages over examples, and over rounds."""


def evaluate_nli(predict: Victim, tasks: Sequence[Labelled], *, seed: int) -> list[ClassifierScore]:
    """Return each task's accuracy x100, and both averages over ANLI's rounds."""
    rows = [evaluate_accuracy(predict, task, seed=seed) for task in tasks]
    for split in dict.fromkeys(task.split for task in tasks):
        rounds = [row for row in rows if row.split == split and row.task in ANLI_ROUNDS]
        if {row.task for row in rounds} == set(ANLI_ROUNDS):
            rows += _averages(rounds)
    return rows


def _averages(rounds: list[ClassifierScore]) -> list[ClassifierScore]:
    values, sizes = [row.value for row in rounds], [row.num_examples for row in rounds]
    named = {ANLI_ALL: np.average(values, weights=sizes), ANLI_MEAN: np.mean(values)}
    correct = np.concatenate([row.items.scores for row in rounds if row.items])
    parts = {ANLI_MEAN: np.repeat(np.arange(len(sizes)), sizes)}
    return [
        replace(
            rounds[0],
            task=name,
            value=float(value),
            num_examples=sum(sizes),
            num_unlabelled=sum(row.num_unlabelled for row in rounds),
            degenerate=any(row.degenerate for row in rounds),
            fingerprint=fingerprint_of([row.fingerprint for row in rounds]),
            items=ItemScores.of(correct, parts=parts.get(name)),
        )
        for name, value in named.items()
    ]
