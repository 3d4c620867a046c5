"""A cell or score of a GPU, as a worker runs it: what is full, what is trained again, what is never the driver's."""

import pytest

from rse_study.collectives import Alone
from rse_study.on_ray.queue.cell import Cell
from rse_study.on_ray.stored.files import StudyFiles
from rse_study.on_ray.stored.folders import StudyFolders
from rse_study.on_ray.workers.materials_cache import MaterialsCache
from rse_study.on_ray.workers.payloads import Payloads
from rse_study.on_ray.workers.trainable import end_of_group
from rse_study.on_ray.workers.worker import run_loop
from rse_study.study.definition.config import Resources
from tests.cases import cases
from tests.simulated_card import simulated_card
from tests.training.world import light_trial

TRIAL = light_trial(budget={"unit": "steps", "amount": 1}, batch_size=4)


@pytest.fixture
def payload(tmp_path, materials):
    cell = Cell(0, 0, "f" * 64, TRIAL, resources=Resources(gpus=1))
    of_study = Payloads(StudyFiles(StudyFolders(tmp_path)), MaterialsCache(lambda trial: materials), "nobody")
    return of_study.of_cell(cell)


def test_a_cell_for_which_the_card_is_too_small_is_not_tried_again(payload, monkeypatch):
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
