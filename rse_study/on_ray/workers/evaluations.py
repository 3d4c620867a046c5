"""Scores of kept models and of the baselines' weights, measured by tasks of Ray."""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import ray
import torch

from rse_study.activity import ProgressCallback
from rse_study.downstream.models import CLASSIFIERS, FineTunedEvaluation, ModelFiles, ScoredModel, score_model
from rse_study.errors import InputError, Unavailable
from rse_study.evaluation.evaluations import Evaluation, FrozenEvaluation
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder
from rse_study.on_ray.workers import BaselinePayload, CellPayload
from rse_study.on_ray.workers.workplace import Workplace, workplace
from rse_study.results.files.result_file import (
    EVALUATIONS_FILE,
    ITEMS_FILE,
    write_evaluations,
    written_rows,
)
from rse_study.results.files.schema import MODEL_FOLDER
from rse_study.results.records import EvaluationRow
from rse_study.study.baselines import attacks_folder, measure_baseline, measure_baseline_once
from rse_study.training.loop import train_in_process
from rse_study.training.materials import Materials

ATTACKS = "attacks"
CHECK_SECONDS = 3.0


def start_scoring(payload: CellPayload | BaselinePayload, evaluations: list[ray.ObjectRef]) -> ray.ObjectRef:
    """Start a task that scores a cell or baseline; data travel to each node once."""
    task: Any = evaluate_cell if isinstance(payload, CellPayload) else evaluate_baseline
    # One process on one node: what all workers of a cell have together may be more than any node has.
    used = payload.resources
    reserved: dict[str, Any] = {"num_cpus": used.threads, "num_gpus": used.gpus}
    if used.labels:
        reserved["label_selector"] = used.labels
    return ray.remote(task).options(max_retries=3, **reserved).remote(payload, *evaluations)


def as_they_come(
    tasks: Sequence[ray.ObjectRef], closing: Event, check: Callable[[], None] = lambda: None
) -> Iterator[list[EvaluationRow]]:
    """Yield the rows of each task as it ends, until all have or `closing` is set.

    The first error is raised when all others have ended; `check` raises where Ray and all tasks are gone.
    """
    waiting, failures = list(tasks), list[Exception]()  # the others' scores count all the same
    while waiting and not closing.is_set():
        check()
        done, waiting = ray.wait(waiting, timeout=1.0)
        for one in done:
            try:
                yield ray.get(one)
            except ray.exceptions.RayError as error:
                # What a worker finds wrong with the input reaches our user in the same words.
                cause = getattr(error, "cause", None)
                failures.append(cause if isinstance(cause, (InputError, Unavailable)) else error)
                if cause is None:  # no error of the task's own: Ray may be gone, which shows a moment later
                    closing.wait(CHECK_SECONDS)
                    check()
    if failures:
        raise failures[0]


def evaluate_baseline(payload: BaselinePayload, *evaluations: Evaluation) -> list[EvaluationRow]:
    """Return the rows of one baseline; its classifiers stay for others to share."""
    torch.set_num_threads(payload.resources.threads)
    name, outcomes = payload.baseline, attacks_folder(payload.baseline)
    if not any(isinstance(one, FineTunedEvaluation) for one in evaluations):
        with workplace(payload, evaluations=evaluations) as here:
            return measure_baseline_once(
                name, payload.trial, here.materials, here.evaluations, payload.device
            )
    with (
        workplace(payload, names=[outcomes], evaluations=evaluations) as here,
        here.published_as_it_grows(outcomes),
    ):
        return measure_baseline(
            name, payload.trial, here.materials, here.evaluations, here.folder, payload.device
        )


def evaluate_cell(payload: CellPayload, *evaluations: Evaluation) -> list[EvaluationRow]:
    """Return the rows of one cell, without measuring again those in its file.

    A model that was not kept is trained again for this alone, bit for bit on the same kind of CPU, if one worker
    trained it.
    """
    torch.set_num_threads(payload.resources.threads)
    with workplace(
        payload, names=(EVALUATIONS_FILE, ITEMS_FILE, MODEL_FOLDER, ATTACKS), evaluations=evaluations
    ) as here:
        return score_cell(payload, here)


def score_cell(
    payload: CellPayload, here: Workplace, on_progress: ProgressCallback = lambda done, total: None
) -> list[EvaluationRow]:
    """Return the rows of the cell in a workplace, each written to its file first."""
    # An attempt before may have written some and not reported them.
    folder, asked = here.folder, {(one.name, one.fingerprint) for one in here.evaluations}
    rows = written_rows(folder, payload.cell, asked)
    written = {row.evaluation for row in rows}
    lacking = [one for one in here.evaluations if one.name not in written]
    if not lacking:
        return rows
    # Evaluations of vectors share them; each of the others, which may take hours, is alone.
    parts: list[Sequence[Evaluation]] = [[one for one in lacking if isinstance(one, FrozenEvaluation)]]
    parts += [[one] for one in lacking if not isinstance(one, FrozenEvaluation)]
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        model = _scored_model(payload, here, Path(scratch))
        for part in parts:
            with here.published_as_it_grows(ATTACKS):
                scores = score_model(model, part, on_progress)
            if not payload.keeps_items:
                scores = [row.model_copy(update={"items": None}) for row in scores]
            write_evaluations(folder, scores)
            here.publish(ITEMS_FILE)
            here.publish(EVALUATIONS_FILE)
            rows += scores
    shutil.rmtree(folder / CLASSIFIERS, ignore_errors=True)
    return rows


def _scored_model(payload: CellPayload, here: Workplace, scratch: Path) -> ScoredModel:
    folder, device = here.folder, payload.device
    kept = folder / MODEL_FOLDER
    model = kept if kept.is_dir() else _train_again(payload, here.materials, scratch)
    pooling, template = payload.trial.encoder.pooling, payload.trial.encoder.template
    encoder, tokenizer = load_encoder(model, pooling)
    classifiers, attacks = folder / CLASSIFIERS, folder / ATTACKS
    files = ModelFiles(str(model), pooling, classifiers, attacks, device=device, template=template)
    return ScoredModel(payload.cell, Embedder(encoder.to(device), tokenizer, template), files)


def _train_again(payload: CellPayload, materials: Materials, scratch: Path) -> Path:
    used = payload.resources
    if used.workers > 1:
        what = f"the model of trial {payload.number}, seed {payload.seed} was not kept"
        rule = f"{used.workers} workers trained it, and only one worker trains a model again for its scores"
        remedy = "Run the study under another name, with all its evaluations or keep_models: final"
        raise InputError(what, where="evaluations", rule=rule, remedy=remedy)
    train_in_process(
        payload.trial, payload.seed, materials, scratch, threads=used.threads, device=payload.device
    )
    return scratch / MODEL_FOLDER
