"""Scores of the kept models: a record a (cell, evaluation), each measured once, by tasks of Ray."""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import ray
import torch

from rse_study.evaluation.evaluations import Evaluation, OfVectors
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder
from rse_study.on_ray.cell import Cell
from rse_study.on_ray.handover import read_materials
from rse_study.results.evaluation_file import write_evaluations
from rse_study.results.ledger import Ledger
from rse_study.results.records import EvaluationRow
from rse_study.study.evaluations.subject import Subject, Weights, score_subject
from rse_study.training.processes import train_here
from rse_study.training.trial import Cadences, Trial

MODEL, CLASSIFIERS, ATTACKS = "model", "classifiers", "attacks"


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
    needs = {"num_cpus": cell.resources.workers * cell.resources.threads, "num_gpus": cell.resources.gpus}
    return ray.remote(evaluate_cell).options(max_retries=3, **needs).remote(config, evaluations)


def evaluate_cell(config: dict[str, Any], evaluations: list[Evaluation]) -> list[EvaluationRow]:
    """The rows of one packed cell. Where its model was not kept, it is trained again, bit for bit, for this alone."""
    torch.set_num_threads(config["threads"])
    trial, folder = Trial.model_validate_json(config["trial"]), Path(config["directory"])
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        model = folder / MODEL if (folder / MODEL).is_dir() else _train_again(config, trial, Path(scratch))
        encoder, tokenizer = load_encoder(model, trial.encoder.pooling)
        device = "cuda" if config["gpus"] else "cpu"
        embed = Embedder(encoder.to(device), tokenizer, trial.encoder.template)
        weights = Weights(
            str(model), trial.encoder.pooling, folder / CLASSIFIERS, folder / ATTACKS, device=device
        )
        subject = Subject(config["cell"], embed, weights)
        rows = []
        for part in _parts(evaluations):
            found = score_subject(subject, part)
            write_evaluations(folder, found)  # before anybody is told, like a result
            rows += found
    shutil.rmtree(folder / CLASSIFIERS, ignore_errors=True)
    return rows


def _parts(evaluations: Sequence[Evaluation]) -> Iterator[Sequence[Evaluation]]:
    """What takes vectors alone shares them; what may take hours is kept by itself."""
    yield [one for one in evaluations if isinstance(one, OfVectors)]
    yield from ([one] for one in evaluations if not isinstance(one, OfVectors))


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
