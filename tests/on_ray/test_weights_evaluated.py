"""Evaluations that fine-tune, in a study on Ray: cells and baselines with weights, once for each setting."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from rse_study.data import builtin
from rse_study.data.labelled import Labelled
from rse_study.downstream import Attacks, Settings
from rse_study.downstream.fine_tuned_tasks import NliFineTuned
from rse_study.on_ray.driver import run_study
from rse_study.on_ray.workers import CellPayload
from rse_study.on_ray.workers.evaluations import evaluate_cell
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import read_evaluations, write_evaluations
from rse_study.results.files.schema import baselines_folder, cell_folder
from rse_study.results.reader import Reader
from rse_study.study.definition.parts import Resources
from rse_study.training.classifier import FineTuning
from rse_study.training.trial import Trial
from tests.on_ray.listener import Listener
from tests.on_ray.world import checked_of, grid_of

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("weights_evaluated")]
NAME = "SNLI/fine_tuned"
WITH_WEIGHTS = {"start", "cls"}


def pairs(seed: int, split: str, num: int) -> Labelled:
    """Generated sentences, each beside itself or beside another."""
    texts = builtin.corpus(seed, 2 * num)
    labels = np.arange(num) % 3
    sides = [(texts[i], texts[i] if k == 0 else texts[num + i]) for i, k in enumerate(labels)]
    return Labelled("SNLI", split, sides, labels, ("entailment", "neutral", "contradiction"))


def asked(fine_tuning: FineTuning) -> NliFineTuned:
    settings = Settings(Attacks(), fine_tuning)
    return NliFineTuned("SNLI", pairs(1, "train", 24), (pairs(2, "test", 12),), settings)


@pytest.fixture(scope="module")
def run(study_content, materials, tmp_path_factory, cluster):
    """Runs the grid with so many epochs of fine-tuning; returns what was heard."""
    directory = tmp_path_factory.mktemp("weights") / "little"

    def run(epochs: int) -> list[str]:
        spec = {"epochs": epochs, "batch_size": 8, "max_length": 16, "dev_share": 0.25}
        options = {"evaluations": [NAME], "baselines": ["untrained", *WITH_WEIGHTS], "fine_tuning": spec}
        content = grid_of(study_content, grid={"axes": {"rho": [0, 1]}}, **options)
        checked, listener = checked_of(content), Listener()
        evaluation = asked(FineTuning.model_validate(spec))
        read = {NAME: evaluation}.__getitem__
        run_study(checked, directory, lambda trial: materials, read, listener, address=cluster)
        return listener.heard

    run.directory = directory
    return run


@pytest.fixture(scope="module")
def runs(run):
    """What was heard and the scores as read, of a run, of one with other settings, and of the same once more."""
    found = []
    for epochs in (1, 2, 2):
        heard = run(epochs)
        with Reader(run.directory) as reader:
            scores = reader.evaluations()
            found.append((heard, scores[scores["evaluation"] == NAME], reader.revisions()))
    return found


def test_cells_and_baselines_with_weights_are_scored_together(run, runs):
    heard, scores, _ = runs[0]
    assert f"evaluations: 2 models on {NAME}, 2 scores of baselines" in heard
    assert "evaluated: 4 of 4" in heard
    with Reader(run.directory) as reader:
        cells = set(reader.cells()["identity"])
    assert set(scores["subject"]) == cells | WITH_WEIGHTS


def test_no_classifier_stays(run, runs):
    assert not list(run.directory.rglob("classifiers"))
    assert baselines_folder(run.directory).is_dir()


def test_other_settings_are_a_revision_and_leave_no_score_of_the_old_ones(runs):
    (_, first, _), (heard, second, revisions), _ = runs
    assert f"evaluations: 2 models on {NAME}, 2 scores of baselines" in heard
    assert set(first["fingerprint"]).isdisjoint(second["fingerprint"])
    assert second["fingerprint"].nunique() == 1
    assert len(second) == len(first)
    assert revisions["change"].iloc[-1] == f"fine_tuning.epochs: 1 -> 2; measured again: {NAME}"


def test_once_measured_nothing_is_left(runs):
    _, (_, second, _), (heard, third, _) = runs
    assert heard == []
    assert third.equals(second)


def test_scores_in_a_cells_file_are_not_measured_again(run, runs, tmp_path: Path):
    """The worker wrote them and died before it reported; its model is not even there any more."""
    with Ledger.open(run.directory) as ledger:
        cell = ledger.cells()[0]
        evaluation = asked(FineTuning.model_validate(ledger.study().resolved["fine_tuning"]))
    folder = tmp_path / "cell"
    shutil.copytree(cell_folder(run.directory, cell.identity), folder)
    shutil.rmtree(folder / "model")
    rows = [row.model_copy(update={"value": 12.5}) for row in read_evaluations(folder)]
    write_evaluations(folder, rows)
    trial = Trial.model_validate(cell.config)
    of_cell = {"cell": cell.identity, "number": cell.trial, "seed": cell.seed, "trial": trial}
    nowhere = {
        "continues": False,
        "attempt": 0,
        "rungs": (),
        "coordinator": "",
        "train_runs": str(tmp_path / "absent"),
    }
    lies = {"materials": str(tmp_path / "absent.json"), "folder": str(folder)}
    payload = CellPayload(**of_cell, **nowhere, resources=Resources(), **lies)
    found = evaluate_cell(payload, evaluation)
    assert {row.value for row in found} == {12.5}
    assert {row.evaluation for row in found} == {NAME}
