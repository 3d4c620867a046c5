"""The rows every report shows beside the trials: without them a score says nothing."""

from collections.abc import Iterable, Sequence

from rse_study.data.pairs import StsPairs
from rse_study.evaluation.overlap import token_overlap
from rse_study.evaluation.sts import StsScore, evaluate_sts
from rse_study.evaluation.whitening import whitened
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder, untrained
from rse_study.results.records import EvaluationRow
from rse_study.study.config import Baseline
from rse_study.training.materials import Materials
from rse_study.training.trial import Trial


def measure_baselines(
    trial: Trial, materials: Materials, names: Iterable[Baseline], tasks: Sequence[StsPairs]
) -> list[EvaluationRow]:
    """The tasks' pairs scored by each baseline, named as in `results.records.BASELINES`."""
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
    base, encoder = materials.base, trial.encoder
    if name == "untrained":
        loaded = untrained(base, encoder.pooling, seed=0, revision=encoder.revision)
        return evaluate_sts(Embedder(*loaded, encoder.template), tasks)
    if name == "start":
        loaded = load_encoder(base, encoder.pooling, encoder.revision)
        return evaluate_sts(Embedder(*loaded, encoder.template), tasks)
    embed = Embedder(*load_encoder(base, "mean" if name == "whitening" else name, encoder.revision))
    if name != "whitening":
        return evaluate_sts(embed, tasks)
    # Each task by its own sentences: Su et al.'s "target", which knows the texts but no gold.
    return [score for pairs in tasks for score in evaluate_sts(lambda texts: whitened(embed(texts)), [pairs])]
