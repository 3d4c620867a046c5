"""Killed at random steps and started again: bit for bit the uninterrupted run."""

import multiprocessing
import os
import random
import signal
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from rse_study.results.files.result_file import read_result
from rse_study.training.loop import drive, train
from tests.slow import mostly_slow
from tests.training.world import World, leave_at, light_trial, small_trial, stop_at

NUM_STEPS = 12
FORK = multiprocessing.get_context("fork")


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
