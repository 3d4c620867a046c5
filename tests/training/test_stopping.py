"""Stopped by a verdict, continued later, killed at any moment of it: bit for bit the run that never stopped."""

import multiprocessing
import os
import random
import shutil
import signal
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from rse_study.errors import InputError
from rse_study.results.files.result_file import read_result
from rse_study.training import checkpoint, loop
from rse_study.training.loop import Progress, drive, train
from tests.slow import mostly_slow
from tests.training.world import World, leave_at, light_trial, small_trial, stop_at

FORK = multiprocessing.get_context("fork")


@pytest.fixture(scope="module")
def straight(light):
    """A run that never stopped."""
    return light.folder


@pytest.fixture(scope="module")
def stopped_at_6(world, tmp_path_factory):
    """A run that was stopped at step 6, and the steps it showed."""
    folder = tmp_path_factory.mktemp("stopped")
    return folder, stop(world, folder)


@pytest.fixture
def stopped(stopped_at_6, tmp_path):
    """A copy of it."""
    return Path(shutil.copytree(stopped_at_6[0], tmp_path, dirs_exist_ok=True))


def stop(world: World, directory: Path, t: int = 6) -> list[int]:
    seen: list[int] = []

    def report(progress: Progress) -> str | None:
        seen.append(progress.t)
        return stop_at(t)(progress)

    drive(train(light_trial(), 3, world.materials(), directory), report)
    return seen


def go_on(world: World, directory: Path) -> list[int]:
    return [point.t for point in train(light_trial(), 3, world.materials(), directory, continues=True)]


def assert_equal(directory: Path, expected: Path) -> None:
    found, wanted = read_result(directory), read_result(expected)
    assert found.status == "complete"
    assert (found.history, found.final) == (wanted.history, wanted.final)
    assert not (directory / "checkpoint").exists()


def test_stop_ends_the_cell_at_once_with_its_last_metrics_and_for_nobody_else(world, stopped_at_6, stopped):
    assert stopped_at_6[1] == [0, 2, 4, 5, 6]
    result = read_result(stopped)
    assert (result.status, result.reason) == ("stopped_early", "stopped at step 6 of 12")
    assert result.history[-1].t == 6
    assert result.history[-1].metrics.items() <= result.final.items()
    assert result.final["dev/kept_t"] == 5
    assert [path.name for path in (stopped / "checkpoint").iterdir()] == ["step-000000006"]
    # It stays so until somebody wants it continued.
    again = list(train(light_trial(), 3, world.materials(), stopped))
    assert [(point.t, point.is_final) for point in again] == [(6, True)]
    with pytest.raises(InputError, match="another configuration's"):
        list(train(light_trial(), 4, world.materials(), stopped, continues=True))


def test_none_and_continue_go_on_and_the_last_verdict_counts_for_nothing(world, tmp_path, straight):
    cell = train(light_trial(), 3, world.materials(), tmp_path)
    drive(cell, lambda progress: "stop" if progress.is_final else "continue")
    assert_equal(tmp_path, straight)


@pytest.mark.parametrize("t", mostly_slow([0, 5, 10], fast=[5]))
def test_continued_it_equals_the_run_that_never_stopped(world, tmp_path, straight, t):
    stop(world, tmp_path, t)
    shown = go_on(world, tmp_path)
    assert shown == [point.t for point in read_result(straight).history if point.t > t]
    assert_equal(tmp_path, straight)
    assert go_on(world, tmp_path) == [12]


def test_stopped_twice(world, tmp_path, straight):
    stop(world, tmp_path, 4)
    drive(train(light_trial(), 3, world.materials(), tmp_path, continues=True), stop_at(8))
    assert read_result(tmp_path).reason == "stopped at step 8 of 12"
    go_on(world, tmp_path)
    assert_equal(tmp_path, straight)


def test_without_its_checkpoint_it_starts_over(world, stopped, straight):
    shutil.rmtree(stopped / "checkpoint")
    assert go_on(world, stopped)[0] == 0
    assert_equal(stopped, straight)


def killed(function: Callable[..., Any], num_calls: int) -> Callable[..., Any]:
    """The same function, but the process dies once it has been called so often, before it is called again."""
    calls = iter(range(num_calls))

    def instead(*args: Any, **kwargs: Any) -> Any:
        if next(calls, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*args, **kwargs)

    return instead


def killed_behind(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, but the process dies when it has been called."""

    def instead(*args: Any, **kwargs: Any) -> Any:
        function(*args, **kwargs)
        os.kill(os.getpid(), signal.SIGKILL)

    return instead


# Where the process dies: an owner, a function of it, what becomes of that function.
MOMENTS = {
    "before the checkpoint": (checkpoint, "save", partial(killed, num_calls=0)),
    "amid the checkpoint": (checkpoint, "save_file", partial(killed, num_calls=2)),
    "before the state": (Path, "write_text", partial(killed, num_calls=0)),
    "before the checkpoint's rename": (Path, "rename", partial(killed, num_calls=0)),
    "before the result": (loop, "write_result", partial(killed, num_calls=0)),
    "before the result's rename": (Path, "replace", partial(killed, num_calls=0)),
    "after the result's rename": (Path, "replace", killed_behind),
    "before the checkpoint is removed": (checkpoint, "remove", partial(killed, num_calls=0)),
    "while the checkpoint is removed": (os, "unlink", partial(killed, num_calls=1)),
}
BEFORE = [name for name in MOMENTS if "removed" not in name]
STOPPING = mostly_slow(BEFORE, fast=["amid the checkpoint", "after the result's rename"])
FAST = ["before the checkpoint's rename", "before the result", "while the checkpoint is removed"]
GOING_ON = mostly_slow(MOMENTS, fast=FAST)


def die(work: Callable[[], Any], moment: str) -> None:
    """Do the work in a process that is killed at this moment."""

    def doomed() -> None:
        owner, name, change = MOMENTS[moment]
        setattr(owner, name, change(getattr(owner, name)))
        work()

    process = FORK.Process(target=doomed)
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL, moment


@pytest.mark.parametrize("moment", STOPPING)
def test_killed_while_it_stops(world, tmp_path, straight, moment):
    world.materials()
    die(lambda: stop(world, tmp_path), moment)
    assert stop(world, tmp_path)[-1] == 6
    assert read_result(tmp_path).reason == "stopped at step 6 of 12"
    assert [path.name for path in (tmp_path / "checkpoint").iterdir()] == ["step-000000006"]
    go_on(world, tmp_path)
    assert_equal(tmp_path, straight)


@pytest.mark.parametrize("moment", GOING_ON)
def test_killed_while_it_goes_on(world, stopped, straight, moment):
    def work():
        list(train(light_trial(), 3, world.materials(), stopped, continues=True, checkpoint_seconds=0.0))

    die(work, moment)
    go_on(world, stopped)
    assert_equal(stopped, straight)


# Killed at random steps and started again: bit for bit the uninterrupted run.


NUM_STEPS = 12


def _cell(world: World, directory: Path, changes: dict, steps: Connection) -> None:
    for point in train(small_trial(**changes), 3, world.materials(), directory, checkpoint_seconds=0.0):
        steps.send(point.t)


def _run_until(world: World, directory: Path, changes: dict, last: int) -> None:
    """A process that is killed as soon as it has reported step `last`."""
    receiver, sender = FORK.Pipe(duplex=False)
    process = FORK.Process(target=_cell, args=(world, directory, changes, sender))
    process.start()
    sender.close()
    try:
        while receiver.recv() < last:
            pass
    except EOFError:
        raise AssertionError("the cell died by itself") from None
    os.kill(process.pid or 0, signal.SIGKILL)
    process.join()
    assert process.exitcode == -signal.SIGKILL


METHODS: dict[str, dict] = {
    "everything": {},
    "redrawn V, batch norm": {
        "method": {"lambda2": 0, "token_level": {"redraw": "epoch"}, "head": "batch_norm"}
    },
    "L2P-CSR": {"method": {"name": "l2p_csr", "masks": {"num_layers": 1, "num_steps": 2}}},
    "V-advCSE": {"method": {"name": "v_adv_cse", "weight": 0.1}},
    "DCL": {"method": {"name": "dcl", "hidden": 8, "width": 4}},
    "ConSERT": {"method": {"name": "consert", "first": "adversarial", "dropout": True}},
    "ATCL": {"method": {"name": "atcl"}},
    "CT": {"method": {"name": "ct", "num_negatives": 2}},
    "SG-OPT": {"method": {"name": "sg_opt", "hidden": 8}},
}


@pytest.mark.parametrize("name", mostly_slow(METHODS, fast=["everything", "DCL"]))  # DCL has a twin, too
def test_resume_equals_uninterrupted(world: World, tmp_path: Path, name: str) -> None:
    world.materials()
    changes = {"report_every": 1} | METHODS[name]
    whole, broken, trial = tmp_path / "whole", tmp_path / "broken", small_trial(**changes)
    for last in sorted(random.Random(7).sample(range(1, NUM_STEPS - 1), 3)):
        _run_until(world, broken, changes, last)
        assert not (broken / "result.json").exists()
    for directory in (whole, broken):  # one step before the end: weights, moments and V are still there
        drive(train(trial, 3, world.materials(), directory), stop_at(NUM_STEPS - 1))
    for part in ("networks", "optimizer", "state"):
        file = Path("checkpoint") / f"step-{NUM_STEPS - 1:09d}" / f"{part}.safetensors"
        expected, found = load_file(whole / file), load_file(broken / file)
        assert expected.keys() == found.keys()
        assert all(torch.equal(found[key], expected[key]) for key in expected), part
    list(train(trial, 3, world.materials(), tmp_path / "straight"))
    straight = read_result(tmp_path / "straight")
    for directory in (whole, broken):
        list(train(trial, 3, world.materials(), directory, continues=True))
        assert read_result(directory).history == straight.history
        assert read_result(directory).final == straight.final


def test_interrupted_between_checkpoints_the_steps_are_done_again(world, light, tmp_path):
    leave_at(8, train(light_trial(), 3, world.materials(), tmp_path / "cell", checkpoint_seconds=3600.0))
    again = list(train(light_trial(), 3, world.materials(), tmp_path / "cell"))
    assert [point.t for point in again] == [point.t for point in light.points]
    assert [point.metrics for point in again] == [point.metrics for point in light.points]


def test_a_saved_point_is_shown_again_for_its_verdict(world: World, tmp_path: Path) -> None:
    # Saved at 8; then whoever was to give the verdict dies.
    leave_at(8, train(light_trial(), 3, world.materials(), tmp_path, checkpoint_seconds=0.0))
    assert [point.t for point in train(light_trial(), 3, world.materials(), tmp_path)] == [8, 10, 12]


def test_a_cell_with_a_damaged_checkpoint_begins_anew_and_ends_with_the_same_numbers(world, light, tmp_path):
    leave_at(8, train(light_trial(), 3, world.materials(), tmp_path, checkpoint_seconds=0.0))
    (weights,) = (tmp_path / "checkpoint").glob("step-*/networks.safetensors")
    weights.write_bytes(weights.read_bytes()[:-1] + b"\0")
    again = list(train(light_trial(), 3, world.materials(), tmp_path))
    assert [(point.t, point.metrics) for point in again] == [
        (point.t, point.metrics) for point in light.points
    ]
    assert (tmp_path / "checkpoint.damaged" / weights.name).exists()
