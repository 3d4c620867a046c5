"""The rows every report shows beside the trials: without them a score says nothing."""

from collections.abc import Iterable, Sequence
from typing import Any

from rse_study.data.pairs import StsPairs
from rse_study.evaluation.overlap import token_overlap
from rse_study.evaluation.sts import StsScore, evaluate_sts
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder, untrained
from rse_study.results.records import EvaluationRow
from rse_study.study.config import Baseline
from rse_study.training.materials import Materials
from rse_study.training.trial import Trial


def measure_baselines(
    trial: Trial, materials: Materials, names: Iterable[Baseline], tasks: Sequence[StsPairs]
) -> list[EvaluationRow]:
    """The tasks' pairs scored by word overlap, by the untrained encoder and by the base before training."""
    return [row_of(name, score) for name in names for score in _scores(name, trial, materials, tasks)]


def row_of(subject: str, score: StsScore) -> EvaluationRow:
    """A score of a baseline or a cell as the ledger keeps it."""
    return EvaluationRow(
        subject=subject,
        task=score.task,
        split=score.split,
        aggregation=score.aggregation,
        value=score.spearman,
        num_examples=score.num_examples,
        degenerate=score.degenerate,
        fingerprint=score.fingerprint,
    )


def _scores(name: Baseline, trial: Trial, materials: Materials, tasks: Sequence[StsPairs]) -> list[StsScore]:
    if name == "token_overlap":
        return [score for pairs in tasks for score in token_overlap(pairs)]
    pooling, revision = trial.encoder.pooling, trial.encoder.revision
    if name == "untrained":
        loaded = untrained(materials.base, pooling, seed=0, revision=revision)
    else:
        loaded = load_encoder(materials.base, pooling, revision)
    return evaluate_sts(_embedder(loaded, trial), tasks)


def _embedder(loaded: tuple[Any, Any], trial: Trial) -> Embedder:
    encoder, tokenizer = loaded
    return Embedder(encoder, tokenizer, template=trial.encoder.template)
