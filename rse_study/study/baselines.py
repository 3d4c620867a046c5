"""The rows every report shows beside the trials: without them a score says nothing."""

from collections.abc import Iterable, Sequence

from rse_study.evaluation.evaluations import Evaluation, score_all
from rse_study.evaluation.kinds.similarity import Similarity
from rse_study.evaluation.whitening import whitened
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder, untrained
from rse_study.results.records import EvaluationRow
from rse_study.study.config import Baseline
from rse_study.training.materials import Materials
from rse_study.training.trial import Trial


def measure_baselines(
    trial: Trial, materials: Materials, names: Iterable[Baseline], evaluations: Sequence[Evaluation]
) -> list[EvaluationRow]:
    """Every evaluation's rows for each baseline, named as in `results.records.BASELINES`."""
    return [row for name in names for row in _scores(name, trial, materials, evaluations)]


def can_measure(name: Baseline, evaluation: Evaluation) -> bool:
    """Word overlap has no vectors: it is scored on similarity alone."""
    return name != "token_overlap" or isinstance(evaluation, Similarity)


def _scores(
    name: Baseline, trial: Trial, materials: Materials, evaluations: Sequence[Evaluation]
) -> list[EvaluationRow]:
    if name == "token_overlap":
        similarities = [one for one in evaluations if isinstance(one, Similarity)]
        return [row for one in similarities for row in one.score_overlap(name)]
    base, encoder = materials.base, trial.encoder
    if name == "untrained":
        loaded = untrained(base, encoder.pooling, seed=0, revision=encoder.revision)
        return score_all(Embedder(*loaded, encoder.template), evaluations, name)
    if name == "start":
        loaded = load_encoder(base, encoder.pooling, encoder.revision)
        return score_all(Embedder(*loaded, encoder.template), evaluations, name)
    embed = Embedder(*load_encoder(base, "mean" if name == "whitening" else name, encoder.revision))
    if name != "whitening":
        return score_all(embed, evaluations, name)
    # Each task by its own sentences: Su et al.'s "target", which knows the texts but no gold.
    return [row for one in evaluations for row in one.score(lambda texts: whitened(embed(texts)), name)]
