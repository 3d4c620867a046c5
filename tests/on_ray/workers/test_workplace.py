"""What a process has on its own machine, with a storage: copies, and a folder that goes with it."""

import os
import socket
import tempfile
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from rse_study.on_ray.queue import Cell
from rse_study.on_ray.stored import MaterialsCache, Payloads, StudyFiles
from rse_study.on_ray.workers.workplace import WORK, work_folder, workplace
from rse_study.storage.storage import Storage
from rse_study.study.definition.parts import Resources
from rse_study.training.trial import Trial

CELL = Cell(3, 1, "f" * 64, Trial.model_validate({}))


@pytest.fixture
def world(tmp_path, materials, monkeypatch):
    """A cell's payload and the node's cache; the driver's disk is gone."""
    driver, node = tmp_path / "driver", tmp_path / "node"
    storage = Storage(str(tmp_path / "storage"), 0.0)
    storage.require()
    files = StudyFiles(driver / "little", storage, driver / "cache")
    payloads = Payloads(files, MaterialsCache(lambda trial: materials), "coordinator-1")
    monkeypatch.setenv("RSE_STUDY_CACHE", str(node))
    yield payloads, node
    assert not driver.exists() or not (driver / "little" / "cells").exists()


def test_nothing_in_a_payload_is_a_path_of_the_drivers_disk_and_materials_say_the_same(
    world, tmp_path, materials
):
    payloads, _ = world
    for payload in (payloads.of_cell(CELL), payloads.of_baseline("start", CELL.trial, Resources())):
        text = repr(replace(payload, storage=""))
        assert str(tmp_path / "driver") not in text
        with workplace(payload) as here:
            folders = (here.materials.base, here.materials.generator, str(here.materials.corpus))
            assert all(Path(folder).is_relative_to(tmp_path / "node") for folder in folders)
            assert all(Path(folder).is_dir() for folder in folders)
            assert here.materials.fingerprints == materials.fingerprints
            assert here.materials.dev.fingerprint == materials.dev.fingerprint


def test_a_full_disk_is_named_by_a_folder_of_this_machine(world):
    """A payload names the folder of its results by a key, if they go to a storage."""
    payloads, node = world
    payload = payloads.of_cell(CELL)
    with workplace(payload) as here:
        assert here.folder.parent == work_folder(payload) == node / WORK
    with workplace(replace(payload, storage="", folder=str(node / "cell"))) as here:
        assert here.folder == work_folder(replace(payload, storage="", folder=str(node / "cell")))


def test_what_is_published_is_brought_to_the_next_process_and_what_is_removed_is_not(world):
    payload = world[0].of_cell(CELL)
    with workplace(payload) as here:
        (here.folder / "checkpoint" / "step-000000002").mkdir(parents=True)
        (here.folder / "checkpoint" / "step-000000002" / "state").write_text("2")
        (here.folder / "result.json").write_text("{}")
        (here.folder / "unpublished").write_text("")
        here.publish("checkpoint")
        here.publish("result.json")
    names = ("checkpoint", "result.json", "model", "unpublished")
    with workplace(payload, names) as here:
        assert sorted(path.name for path in here.folder.iterdir()) == ["checkpoint", "result.json"]
        assert (here.folder / "checkpoint" / "step-000000002" / "state").read_text() == "2"
        (here.folder / "result.json").unlink()
        here.publish("result.json")
    with workplace(payload, names) as here:
        assert [path.name for path in here.folder.iterdir()] == ["checkpoint"]


def test_a_folder_that_grows_is_stored_on_the_way_as_it_is_in_one_moment(world, monkeypatch):
    payload = world[0].of_cell(CELL)
    monkeypatch.setattr("rse_study.on_ray.workers.workplace.GROWING_SECONDS", 0.05)
    with workplace(payload) as here, here.published_as_it_grows("attacks"):
        (here.folder / "attacks").mkdir()
        with (here.folder / "attacks" / "outcomes.jsonl").open("a") as stream:
            for number in range(60):
                stream.write(f"{number}\n" * 100)
                stream.flush()
                time.sleep(0.01)
            with workplace_of_another(payload) as there:
                lines = (there / "attacks" / "outcomes.jsonl").read_text().splitlines()
    assert 0 < len(lines) <= 6000
    with workplace(payload, ["attacks"]) as here:
        assert len((here.folder / "attacks" / "outcomes.jsonl").read_text().splitlines()) == 6000


@contextmanager
def workplace_of_another(payload):
    """What a process on another node takes up where this one is lost now."""
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as cache:
        patch.setenv("RSE_STUDY_CACHE", cache)
        with workplace(payload, ["attacks"]) as there:
            yield there.folder


def test_the_folder_goes_with_its_process_and_that_of_a_killed_one_with_the_next(world):
    payloads, node = world
    with workplace(payloads.of_cell(CELL)) as here:
        mine = here.folder
    assert not mine.exists()
    dead, elsewhere = f"{socket.gethostname()}-{2**22 + 1}", f"other-host-{2**22 + 1}"
    alive = f"{socket.gethostname()}-{os.getppid()}"
    for owner in (dead, elsewhere, alive):
        (node / WORK / f"{'f' * 16}-{owner}").mkdir()
    with workplace(payloads.of_cell(CELL)):
        left = {path.name.partition("-")[2] for path in (node / WORK).iterdir()}
    assert left == {elsewhere, alive, f"{socket.gethostname()}-{os.getpid()}"}


def test_victims_of_a_base_are_shared_by_its_tasks_on_a_machine(world):
    payload = world[0].of_baseline("start", CELL.trial, Resources())
    with workplace(payload) as here:
        (here.folder / "classifiers" / "victim").mkdir()
    with workplace(payload) as here:
        assert (here.folder / "classifiers" / "victim").is_dir()
