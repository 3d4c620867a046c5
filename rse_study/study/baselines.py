"""Baselines: the rows that every report shows beside the trials."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, cast

import torch

from rse_study.activity import ProgressCallback
from rse_study.data.tokenised import TokenisedCorpus
from rse_study.downstream.models import CLASSIFIERS, FineTunedEvaluation, ModelFiles, ScoredModel, score_model
from rse_study.evaluation import MTEB
from rse_study.evaluation.evaluations import Evaluation, FrozenEvaluation, whitened
from rse_study.evaluation.sts import Similarity
from rse_study.models.embedder import Embedder
from rse_study.models.flow import fitted_flow
from rse_study.models.loading import load_encoder, untrained
from rse_study.models.pooling import PoolingKind
from rse_study.results.bit_equality import what_decides
from rse_study.results.files.result_file import write_evaluations, written_rows
from rse_study.results.records import BASELINES, EvaluationRow
from rse_study.spec import fingerprint_of
from rse_study.study.definition.own_baselines import OwnBaseline
from rse_study.training.arithmetic import provenance
from rse_study.training.materials import Materials
from rse_study.training.trial import Trial

# FGM's usual length, where Miyato et al. (2017) have 5 for embeddings of unit variance; DCL's share of synonyms.
FINE_TUNED = {"adversarial": {"adversarial": 1.0}, "augmented": {"augmented": 0.15}}
"""settings of fine-tuning by baseline"""
FOLDER = "scores-and-items-of-baselines"
"""folder beside the tokenised corpus, on the machine that measures"""
NO_WEIGHTS = ("untrained", "whitening", "flow")  # they have no trained weights that could be fine-tuned


def measure_baseline_once(
    name: str,
    trial: Trial | OwnBaseline,
    materials: Materials,
    evaluations: Sequence[Evaluation],
    device: str = "cpu",
    on_progress: ProgressCallback = lambda done, total: None,
) -> list[EvaluationRow]:
    """Return a baseline's rows, read from disk if another study measured them.

    All studies with the same base share them, and those of an encoder of a user's own, whatever it is called.
    """
    shared = name.rpartition(":")[2]
    measure = partial(measure_baseline, shared, trial, materials, device=device, on_progress=on_progress)
    if "base" not in materials.fingerprints:
        return measure(evaluations)
    folder = materials.corpus.parent / FOLDER / _key(name, trial, materials, device)[:32]
    known = written_rows(folder, shared, {(one.name, one.fingerprint) for one in evaluations})
    lacking = [one for one in evaluations if one.name not in {row.evaluation for row in known}]
    measured = measure(lacking) if lacking else []
    if measured:
        with suppress(OSError):  # the corpus may be in a read-only folder
            write_evaluations(folder, measured)
    return [row.model_copy(update={"subject": name}) for row in (*known, *measured)]


def _key(name: str, trial: Trial | OwnBaseline, materials: Materials, device: str) -> str:
    decides = what_decides(provenance(torch.device(device)))
    content: dict[str, Any] = {"base": materials.fingerprints["base"], "decides": decides}
    if name == "flow":
        content["corpus"] = materials.fingerprints["corpus"]
    if isinstance(trial, Trial):
        content |= {**trial.encoder.reading(), "semantics": trial.encoder.semantics}
    return fingerprint_of(content)


def measure_baseline(
    name: str,
    trial: Trial | OwnBaseline,
    materials: Materials,
    evaluations: Sequence[Evaluation],
    folder: Path | None = None,
    device: str = "cpu",
    on_progress: ProgressCallback = lambda done, total: None,
) -> list[EvaluationRow]:
    """Return every evaluation's rows for a baseline of `BASELINES` or a user's own.

    Fine-tuned classifiers and attacks are left in `folder`; its owner removes the classifiers once no other
    baseline, which may share them, is left.
    """
    if isinstance(trial, OwnBaseline):
        return score_model(ScoredModel(name, trial.embed(materials, device)), evaluations, on_progress)
    evaluations = [one for one in evaluations if can_measure(name, one)]
    if name == "token_overlap":
        return [row for one in evaluations if isinstance(one, Similarity) for row in one.score_overlap(name)]
    base, encoder = materials.base, trial.encoder
    if name == "untrained":
        random, tokenizer = untrained(base, encoder.pooling, seed=0, revision=encoder.revision)
        random.prompt = encoder.prompt or random.prompt
        embed = Embedder(random.to(device), tokenizer, encoder.template)
        return score_model(ScoredModel(name, embed), evaluations, on_progress)
    if name == "whitening":
        loaded, tokenizer = load_encoder(base, "mean", encoder.revision, encoder.prompt)
        embed = Embedder(loaded.to(device), tokenizer)
        # Each task by its own sentences: Su et al.'s "target", which knows the texts but no gold.
        of_vectors = [one for one in evaluations if isinstance(one, FrozenEvaluation)]
        return [row for one in of_vectors for row in one.score(lambda texts: whitened(embed(texts)), name)]
    if name == "flow":
        # Fitted on the study's corpus, as other systems train on it; Li et al. take the texts of a task.
        loaded, tokenizer = load_encoder(base, "first_last", encoder.revision, encoder.prompt)
        vectors = Embedder(loaded.to(device), tokenizer)
        flow = fitted_flow(loaded, TokenisedCorpus.open(materials.corpus))
        return score_model(ScoredModel(name, lambda texts: flow.of(vectors(texts))), evaluations, on_progress)
    is_start = name in ("start", *FINE_TUNED)
    pooling = encoder.pooling if is_start else cast(PoolingKind, name)
    template = encoder.template if is_start else ""
    loaded, tokenizer = load_encoder(base, pooling, encoder.revision, encoder.prompt)
    embed, weights = Embedder(loaded.to(device), tokenizer, template), None
    if folder is not None:
        classifiers, attacks = folder / CLASSIFIERS, folder / attacks_folder(name)
        of_texts = encoder.revision, device, template, encoder.prompt
        weights = ModelFiles(base, pooling, classifiers, attacks, *of_texts, FINE_TUNED.get(name, {}))
    return score_model(ScoredModel(name, embed, weights), evaluations, on_progress)


def attacks_folder(name: str) -> str:
    """Return the name of the folder with the outcomes of attacks on a baseline."""
    return f"attacks-{name}"


def can_measure(name: str, evaluation: Evaluation) -> bool:
    """Whether an evaluation can score a baseline, which may lack vectors or weights."""
    if name == "token_overlap":
        return isinstance(evaluation, Similarity)
    if name in FINE_TUNED:
        return getattr(evaluation, "fine_tunes", False)  # WeakenedTokens and AttackedSimilarity do not
    if name == "whitening" and evaluation.name.startswith(MTEB):
        return False  # a task embeds its texts in several calls, which would be whitened apart
    has_weights = name in BASELINES and name not in NO_WEIGHTS  # of a user's own, there are vectors alone
    return has_weights or not isinstance(evaluation, FineTunedEvaluation)
