"""Two workers with half a batch each are one worker with the whole batch; stopped and continued they are too.

What is watched, one of them measures for all.
"""

import dataclasses
import os
from functools import partial
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from rse_study.distributed import Group
from rse_study.errors import InputError
from rse_study.evaluation.geometry import AlignmentUniformity
from rse_study.evaluation.serialise import store
from rse_study.results.files.result_file import read_result
from rse_study.training.loop import drive, train
from rse_study.training.materials import Materials
from rse_study.training.process_group import Ask, run_group
from rse_study.training.processes import train_locally
from rse_study.training.trial import Trial
from tests.gloo import forks
from tests.on_ray.world import few_pairs
from tests.training.world import small_trial, stop_at

pytestmark = pytest.mark.xdist_group("two_workers")
SELECTION = {"dev": "builtin", "every": 5, "keep": "last"}
EXACT = small_trial(precision="float64", watched={"STS-B/geometry": 4}, selection=SELECTION)
LAST = 10  # stopped there, a cell keeps its weights and its V


@pytest.fixture(scope="module", autouse=True)
def forked():
    with forks():
        yield


@pytest.fixture(scope="module")
def materials(world, tmp_path_factory):
    """Without dropout, which two workers draw otherwise than one; a geometry is watched."""
    folder = tmp_path_factory.mktemp("geometry")
    store(AlignmentUniformity(dataclasses.replace(few_pairs("builtin/dev"), name="STS-B")), folder)
    return dataclasses.replace(world.materials(dropout=0.0), watched={"STS-B/geometry": str(folder)})


@pytest.fixture(scope="module")
def two(materials, tmp_path_factory):
    """What two workers leave behind."""
    directory = tmp_path_factory.mktemp("two")
    train_locally(EXACT, 3, materials, directory, workers=2, report=stop_at(LAST))
    return directory


def tensors(directory: Path, part: str) -> dict[str, torch.Tensor]:
    return load_file(directory / "checkpoint" / f"step-{LAST:09d}" / f"{part}.safetensors")


def test_two_gloo_workers_equal_one(materials, two, tmp_path):
    train_locally(EXACT, 3, materials, tmp_path, report=stop_at(LAST))
    alone, shared = read_result(tmp_path), read_result(two)
    assert [result.provenance["workers"] for result in (alone, shared)] == [1, 2]
    for point, other in zip(alone.history, shared.history, strict=True):
        assert point.metrics.keys() == other.metrics.keys()
        apart = {name: abs(other.metrics[name] - value) for name, value in point.metrics.items()}
        assert {name: far for name, far in apart.items() if far > 1e-9} == {}, point.t
    for part in ("networks", "state"):
        expected, found = tensors(tmp_path, part), tensors(two, part)
        worst = max(float((found[key] - expected[key]).abs().max()) for key in expected)
        assert worst < 1e-9, (part, worst)
        assert all(value.dtype == torch.float64 for value in expected.values() if value.is_floating_point())


def test_what_is_watched_is_measured_at_its_steps(two):
    history = read_result(two).history
    for metric in ("alignment", "uniformity"):
        seen = [point.t for point in history if f"STS-B/geometry/{metric}" in point.metrics]
        assert seen == [0, 4, 8]  # stopped before its last step


@pytest.mark.slow
def test_what_is_watched_is_measured_at_the_last_step_too(materials, tmp_path):
    """A step that is no multiple of 4, after which rank 0 measures while the other one waits."""
    budget = {"unit": "steps", "amount": 6}
    trial = Trial.model_validate(EXACT.model_dump() | {"budget": budget})
    train_locally(trial, 3, materials, tmp_path, workers=2)
    history = read_result(tmp_path).history
    assert [point.t for point in history if "STS-B/geometry/alignment" in point.metrics] == [0, 4, 6]


def _train_on_unlike_machines(materials: Materials, directory: Path, group: Group, ask: Ask) -> None:
    if group.rank == 1:
        os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":16:8"
    drive(train(EXACT, 3, materials, directory, group), stop_at(2))


def test_a_cell_of_unlike_machines_says_so(materials, two, tmp_path):
    run_group(partial(_train_on_unlike_machines, materials, tmp_path), 2)
    assert read_result(tmp_path).provenance["unlike"] == ["the machines of its workers"]
    assert read_result(two).provenance["unlike"] == []


def _stop_and_go_on(materials: Materials, directory: Path, group: Group, ask: Ask) -> None:
    """A cell of two workers stopped at 6 and continued; then one whose workers see different folders."""
    for last, continues in ((6, False), (LAST, True)):
        drive(train(EXACT, 3, materials, directory, group, continues=continues), stop_at(last))
        group.any(False)  # both have ended, rank 0 has written
        ask((group.rank, read_result(directory).reason))
    try:
        list(train(EXACT, 3, materials, directory / f"{group.rank}" if group.rank else directory, group))
    except InputError as error:
        ask((group.rank, str(error)))


@pytest.mark.slow
def test_stopped_and_continued_they_equal_two_that_never_were(materials, two, tmp_path):
    said: list[tuple[int, str]] = []
    run_group(partial(_stop_and_go_on, materials, tmp_path), 2, answer=said.append)
    for rank in (0, 1):
        first, second, third = (text for who, text in said if who == rank)
        assert [first, second] == ["stopped at step 6 of 12", "stopped at step 10 of 12"]
        assert "the workers found different checkpoints" in third
    straight, broken = read_result(two), read_result(tmp_path)
    assert (broken.history, broken.final) == (straight.history, straight.final)
    for part in ("networks", "optimizer", "state"):
        expected, found = tensors(two, part), tensors(tmp_path, part)
        assert all(torch.equal(found[key], expected[key]) for key in expected), part
