"""A cell or score of a GPU, as a worker runs it: what is full, what is trained again, what is never the driver's."""

import dataclasses
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest

from rse_study.errors import InputError
from rse_study.on_ray import scoring
from rse_study.on_ray.queue import Cell
from rse_study.on_ray.runtime import RayRuntime
from rse_study.on_ray.stored import MaterialsCache, Payloads, StudyFiles
from rse_study.on_ray.workers import worker
from rse_study.on_ray.workers.evaluations import evaluate_baseline, evaluate_cell
from rse_study.on_ray.workers.worker import end_of_group, run_loop
from rse_study.results.files.ledger import Ledger
from rse_study.study.definition.parts import Resources
from rse_study.study.record import study_record
from rse_study.tensors import Alone
from tests.cases import cases
from tests.on_ray.listener import Listener
from tests.on_ray.world import checked_of, few, grid_of
from tests.simulated_card import simulated_card
from tests.training.world import light_trial

TRIAL = light_trial(budget={"unit": "steps", "amount": 1}, batch_size=4)


@pytest.fixture
def payload(tmp_path, materials):
    cell = Cell(0, 0, "f" * 64, TRIAL, resources=Resources(gpus=1))
    of_study = Payloads(StudyFiles(tmp_path), MaterialsCache(lambda trial: materials), "nobody")
    return of_study.of_cell(cell)


def test_a_cell_for_which_the_card_is_too_small_is_not_tried_again(payload, monkeypatch):
    alone = lambda *asked: SimpleNamespace(report=lambda progress: None)  # noqa: E731 (nobody coordinates it)
    monkeypatch.setattr(worker, "Reporter", alone)
    with simulated_card(monkeypatch, largest=64):
        ended = run_loop(payload, Alone(), lambda point: None)
    assert ended["for_good"]
    assert "the GPU's memory is full" in ended["reason"]
    assert "chunk_size" in ended["reason"]


@cases(
    ("reason", "for_good"),
    [("worker 1: RuntimeError: ...: the GPU's memory is full (CUDA", True), ("", False)],
)
def test_nor_is_one_of_several_workers_of_which_one_had_no_room(reason, for_good):
    ended = end_of_group(reason)
    assert (ended or {"for_good": False})["for_good"] == for_good
    assert end_of_group("worker 0: it was killed") == {"reason": "worker 0: it was killed", "for_good": False}


def test_a_model_of_two_workers_that_was_not_kept_has_no_further_scores(payload):
    Path(payload.folder).mkdir(parents=True)
    with pytest.raises(InputError, match=r"seed 0 was not kept.*2 workers trained it.*another name"):
        evaluate_cell(dataclasses.replace(payload, resources=Resources(workers=2)), few("builtin/test"))


@pytest.mark.parametrize("name", ["untrained", "whitening", "start", "mean"])
def test_a_baseline_is_scored_on_the_card_of_its_task(name, materials, tmp_path, monkeypatch):
    of_study = Payloads(StudyFiles(tmp_path), MaterialsCache(lambda trial: materials), "nobody")
    here, there = (of_study.of_baseline(name, TRIAL, Resources(gpus=number)) for number in (0, 1))
    expected = evaluate_baseline(here, few("builtin/test"))
    with simulated_card(monkeypatch) as card:
        found = evaluate_baseline(there, few("builtin/test"))
    assert card.num_products > 0
    for one, other in zip(found, expected, strict=True):
        assert (one.subject, one.metric) == (other.subject, other.metric)
        assert one.value == pytest.approx(other.value, rel=1e-6)


class Counts:
    def __call__(self, texts):
        return [[text.count("a"), 1] for text in texts]


@pytest.mark.parametrize("gpus", [0, 1])
def test_where_cells_use_gpus_the_driver_scores_no_encoder_and_tasks_all_of_them(
    gpus, study_content, materials, tmp_path, monkeypatch
):
    baselines = ["token_overlap", "untrained", "start"]
    (tmp_path / "v.txt").write_text("the 1 0\na 0 1\n", encoding="utf-8")
    own = {"GloVe": {"vectors": "v.txt"}, "counts": {"class": "tests.on_ray.workers.test_on_a_card:Counts"}}
    content = grid_of(study_content, grid={"axes": {"rho": [0, 1]}}, baselines=[*baselines, own])
    study = checked_of(content | {"evaluations": ["builtin/test"], "resources": {"gpus": gpus}}).study
    asked: list[tuple[str, int]] = []
    named = lambda subject: subject.partition(":")[0]  # noqa: E731
    start = lambda payload, evaluations: asked.append((named(payload.baseline), len(evaluations)))  # noqa: E731
    monkeypatch.setattr(scoring, "start_scoring", start)
    monkeypatch.setattr(scoring.ray, "put", lambda evaluation: evaluation)
    with Ledger.open(tmp_path) as ledger, ExitStack() as stack:
        files, cache = StudyFiles(tmp_path), MaterialsCache(lambda trial: materials)
        fingerprints = cache.find_own(study, study.base, tmp_path)
        ledger.freeze(study_record(checked_of(content), materials.dev, own_baselines=fingerprints))
        runtime = RayRuntime(stack, files, cache, Listener(), num_cpus=0, address="")
        monkeypatch.setattr(runtime, "open", lambda resources: None)
        evaluations = [few("builtin/test")], [few("builtin/dev")]
        of_study = scoring.Scoring(study, study.base, files, ledger, cache, Listener(), *evaluations)
        for rows in of_study.baselines():
            ledger.record_evaluations(rows)
        by_driver = {named(row.subject) for row in ledger.evaluations()}
        list(of_study.start_scoring_baselines(runtime))
    assert by_driver == ({"token_overlap", "GloVe"} if gpus else {*baselines, *own})
    assert asked == ([("untrained", 2), ("start", 2), ("counts", 2)] if gpus else [])
