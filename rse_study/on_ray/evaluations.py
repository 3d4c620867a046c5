"""Scores of kept models and of the baselines' weights: each measured once, by tasks of Ray."""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import ray
import torch

from rse_study.downstream.scored_model import CLASSIFIERS, ModelFiles, ScoredModel, score_model
from rse_study.errors import InputError
from rse_study.evaluation.evaluations import Evaluation, FrozenEvaluation
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder
from rse_study.on_ray.cell import Cell
from rse_study.on_ray.handover import read_materials
from rse_study.results.evaluation_file import read_evaluations, write_evaluations
from rse_study.results.ledger import Ledger
from rse_study.results.records import EvaluationRow
from rse_study.study.baselines import measure_baselines
from rse_study.study.definition.config import Baseline
from rse_study.training.processes import train_here
from rse_study.training.trial import Cadences, Trial

MODEL, ATTACKS = "model", "attacks"


def missing_evaluations(
    cells: Sequence[Cell], evaluations: Sequence[Evaluation], ledger: Ledger
) -> dict[str, list[str]]:
    """For every complete cell, by identity, the names of the evaluations it has no score of."""
    scored = scored_in(ledger)
    complete = {record.identity for record in ledger.cells() if record.status == "complete"}
    wanted = [cell.identity for cell in cells if cell.identity in complete]
    missing = {
        identity: [one.name for one in evaluations if (identity, one.name, one.fingerprint) not in scored]
        for identity in wanted
    }
    return {identity: lacking for identity, lacking in missing.items() if lacking}


def scored_in(ledger: Ledger) -> set[tuple[str, str, str]]:
    """(subject, evaluation, fingerprint of its data) of everything the ledger has a score of."""
    return {(row.subject, row.evaluation, row.fingerprint) for row in ledger.evaluations()}


def ask_for_scores(cell: Cell, config: dict[str, Any], evaluations: list[Evaluation]) -> ray.ObjectRef:
    """The scores of one cell, on their way."""
    return ray.remote(evaluate_cell).options(max_retries=3, **_needs(config)).remote(config, evaluations)


def ask_for_baseline(name: Baseline, config: dict[str, Any], evaluation: Evaluation) -> ray.ObjectRef:
    """What one baseline scores on one evaluation, on its way: kept as soon as it is there."""
    task = ray.remote(evaluate_baseline).options(max_retries=3, **_needs(config))
    return task.remote(name, config, evaluation)


def as_they_come(asked: Sequence[ray.ObjectRef], closing: Event) -> Iterator[list[EvaluationRow]]:
    """The rows of each as it ends, until all have or the room closes. An error of one is raised after the others."""
    waiting, failures = list(asked), list[Exception]()  # the others' scores count all the same
    while waiting and not closing.is_set():
        done, waiting = ray.wait(waiting, timeout=1.0)
        for one in done:
            try:
                yield ray.get(one)
            except ray.exceptions.RayError as error:
                # What a worker is told is wrong with the input, our user is told in the same words.
                cause = getattr(error, "cause", None)
                failures.append(cause if isinstance(cause, InputError) else error)
    if failures:
        raise failures[0]


def evaluate_baseline(name: Baseline, config: dict[str, Any], evaluation: Evaluation) -> list[EvaluationRow]:
    """The rows of one baseline of a packed base. Its classifiers stay: others may share them."""
    torch.set_num_threads(config["threads"])
    trial, materials = Trial.model_validate_json(config["trial"]), read_materials(Path(config["materials"]))
    folder, device = Path(config["directory"]), "cuda" if config["gpus"] else "cpu"
    return measure_baselines(trial, materials, [name], [evaluation], folder, device)


def evaluate_cell(config: dict[str, Any], evaluations: list[Evaluation]) -> list[EvaluationRow]:
    """The rows of one packed cell; those its file has already are not measured again.

    Where its model was not kept, it is trained again for this alone: on a CPU bit for bit.
    """
    torch.set_num_threads(config["threads"])
    rows = _written(config, evaluations)
    known = {row.evaluation for row in rows}
    lacking = [one for one in evaluations if one.name not in known]
    return [*rows, *_measured(config, lacking)] if lacking else rows


def _written(config: dict[str, Any], evaluations: Sequence[Evaluation]) -> list[EvaluationRow]:
    """What an attempt before wrote of these evaluations, and nobody was told; nothing where that is damaged."""
    wanted = {(config["cell"], one.name, one.fingerprint) for one in evaluations}
    try:
        rows = read_evaluations(Path(config["directory"]))
    except InputError:
        return []
    return [row for row in rows if (row.subject, row.evaluation, row.fingerprint) in wanted]


def _measured(config: dict[str, Any], evaluations: Sequence[Evaluation]) -> list[EvaluationRow]:
    """Each in the cell's file before anybody is told, like a result."""
    rows, folder = list[EvaluationRow](), Path(config["directory"])
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        subject = _subject(config, folder, Path(scratch))
        for part in _parts(evaluations):
            found = score_model(subject, part)
            write_evaluations(folder, found)
            rows += found
    shutil.rmtree(folder / CLASSIFIERS, ignore_errors=True)
    return rows


def _subject(config: dict[str, Any], folder: Path, scratch: Path) -> ScoredModel:
    """The cell's model, where its results run."""
    trial = Trial.model_validate_json(config["trial"])
    model = folder / MODEL if (folder / MODEL).is_dir() else _train_again(config, trial, scratch)
    pooling, template = trial.encoder.pooling, trial.encoder.template
    encoder, tokenizer = load_encoder(model, pooling)
    device = "cuda" if config["gpus"] else "cpu"
    made, kept = folder / CLASSIFIERS, folder / ATTACKS
    weights = ModelFiles(str(model), pooling, made, kept, device=device, template=template)
    return ScoredModel(config["cell"], Embedder(encoder.to(device), tokenizer, template), weights)


def _needs(config: dict[str, Any]) -> dict[str, int | float]:
    return {"num_cpus": config["workers"] * config["threads"], "num_gpus": config["gpus"]}


def _parts(evaluations: Sequence[Evaluation]) -> Iterator[Sequence[Evaluation]]:
    """What takes vectors alone shares them; what may take hours is kept by itself."""
    yield [one for one in evaluations if isinstance(one, FrozenEvaluation)]
    yield from ([one] for one in evaluations if not isinstance(one, FrozenEvaluation))


def drop_models(folders: Sequence[Path]) -> None:
    """What keep_models does not keep. A cell's result stays; its model can be made again."""
    for folder in folders:
        shutil.rmtree(folder / MODEL, ignore_errors=True)


def _train_again(config: dict[str, Any], trial: Trial, scratch: Path) -> Path:
    # For its model alone, which what is watched does not change: that is not measured again.
    trial = trial.model_copy(update={"watched": Cadences()})
    materials = read_materials(Path(config["materials"]))
    device = "cuda" if config["gpus"] else "cpu"
    train_here(
        trial,
        config["seed"],
        materials,
        scratch,
        workers=config["workers"],
        threads=config["threads"],
        device=device,
    )
    return scratch / MODEL
