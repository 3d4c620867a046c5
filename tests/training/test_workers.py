"""Two workers with half a batch each are one worker with the whole batch; stopped and continued they are too."""

import json
import os
from functools import partial
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from rse_study.distributed import Group
from rse_study.errors import InputError
from rse_study.results.files.result_file import read_result
from rse_study.training.loop import drive, train, train_in_process
from rse_study.training.materials import Materials
from tests.gloo import in_group
from tests.training.world import small_trial, stop_at

pytestmark = pytest.mark.xdist_group("two_workers")
EXACT = small_trial(precision="float64", selection={"dev": "builtin", "every": 5, "keep": "last"})
LAST = 10  # stopped there, a cell keeps its weights and its V


def _train(materials: Materials, rank: int, size: int, directory: Path) -> None:
    drive(train(EXACT, 3, materials, directory, Group()), stop_at(LAST))


def _train_on_unlike_machines(materials: Materials, rank: int, size: int, directory: Path) -> None:
    if rank == 1:
        os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":16:8"
    drive(train(EXACT, 3, materials, directory, Group()), stop_at(2))


def _stop_and_go_on(materials: Materials, rank: int, size: int, directory: Path) -> None:
    """A cell of two workers stopped at 6 and continued; then one whose workers see different folders."""
    group, said = Group(), list[str]()
    for last, continues in ((6, False), (LAST, True)):
        drive(train(EXACT, 3, materials, directory, group, continues=continues), stop_at(last))
        group.any(False)  # both have ended, rank 0 has written
        said.append(read_result(directory).reason)
    try:
        list(train(EXACT, 3, materials, directory / f"{rank}" if rank else directory, group))
    except InputError as error:
        said.append(str(error))
    (directory / f"said-{rank}.json").write_text(json.dumps(said))


@pytest.fixture(scope="module")
def materials(world):
    """Without dropout, which two workers draw otherwise than one."""
    return world.materials(dropout=0.0)


@pytest.fixture(scope="module")
def two(materials, tmp_path_factory):
    """What two workers leave behind."""
    directory = tmp_path_factory.mktemp("two")
    in_group(partial(_train, materials), directory)
    return directory


def tensors(directory: Path, part: str) -> dict[str, torch.Tensor]:
    return load_file(directory / "checkpoint" / f"step-{LAST:09d}" / f"{part}.safetensors")


def test_two_gloo_workers_equal_one(materials, two, tmp_path):
    train_in_process(EXACT, 3, materials, tmp_path, report=stop_at(LAST))
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


def test_a_cell_of_unlike_machines_says_so(materials, two, tmp_path):
    in_group(partial(_train_on_unlike_machines, materials), tmp_path)
    assert read_result(tmp_path).provenance["unlike"] == ["the machines of its workers"]
    assert read_result(two).provenance["unlike"] == []


@pytest.mark.slow
def test_stopped_and_continued_they_equal_two_that_never_were(materials, two, tmp_path):
    in_group(partial(_stop_and_go_on, materials), tmp_path)
    for rank in (0, 1):
        first, second, third = json.loads((tmp_path / f"said-{rank}.json").read_text())
        assert [first, second] == ["stopped at step 6 of 12", "stopped at step 10 of 12"]
        assert "the workers found different checkpoints" in third
    straight, broken = read_result(two), read_result(tmp_path)
    assert (broken.history, broken.final) == (straight.history, straight.final)
    for part in ("networks", "optimizer", "state"):
        expected, found = tensors(two, part), tensors(tmp_path, part)
        assert all(torch.equal(found[key], expected[key]) for key in expected), part
