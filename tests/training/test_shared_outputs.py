"""The generator's outputs of one cell serve the next: same numbers, no pass of the generator."""

import dataclasses
import shutil
from functools import partial
from pathlib import Path

import pytest
import torch

from rse_study.distributed import Group
from rse_study.models.generators import read_block
from rse_study.models.rtd import Generator
from rse_study.results.files.result_file import read_result
from rse_study.tensors import Collectives
from rse_study.training.loop import drive, train
from rse_study.training.materials import Materials
from rse_study.training.session_setup import OUTPUTS_FOLDER as FOLDER
from rse_study.training.session_setup import open_outputs
from rse_study.training.trial import Trial
from tests.gloo import in_group
from tests.simulated_graph import SimulatedGraphs
from tests.slow import mostly_slow
from tests.training.recorded_steps import NUM_STEPS as STEPS
from tests.training.recorded_steps import SEED, materials_of, opened, take
from tests.training.world import SIMCSE, small_trial, stop_at

CPU = torch.device("cpu")


@pytest.fixture
def materials(world, tmp_path):
    """With a fingerprint of the generator, and a corpus that lies beside nobody else's."""
    made = world.materials()
    shutil.copytree(made.corpus, tmp_path / "corpus")
    known = made.fingerprints | {"generator": "that of the base"}
    return dataclasses.replace(made, corpus=tmp_path / "corpus", fingerprints=known)


@pytest.fixture
def passes(monkeypatch):
    """The rows of each pass of a generator."""
    seen: list[int] = []
    fill = Generator.fill

    def counted(self, ids, *rest, **named):
        seen.append(len(ids))
        return fill(self, ids, *rest, **named)

    monkeypatch.setattr(Generator, "fill", counted)
    return seen


RTD_ALONE = {**SIMCSE, "lambda2": 0.005}
RTD = {"sampled": {"choice": "sample", "positions": "everywhere"}, "published": {}}
NUM_STEPS = 6


def detecting(rtd: str = "published", **changes: object) -> Trial:
    """A few steps of SimCSE with replaced-token detection."""
    of_trial = {name: changes.pop(name) for name in ("max_length", "graphed") if name in changes}
    method = {**RTD_ALONE, "rtd": RTD[rtd], **changes}
    return small_trial(method=method, budget={"unit": "steps", "amount": NUM_STEPS}, **of_trial)


@pytest.mark.parametrize("rtd", mostly_slow(RTD, fast=["sampled"]))
def test_the_next_cell_reads_and_has_the_same_numbers(world, materials, tmp_path, passes, rtd):
    def metrics(name, given, **changes):
        return [point.metrics for point in train(detecting(rtd, **changes), 3, given, tmp_path / name)]

    alone = metrics("alone", world.materials())  # nobody knows what its generator holds
    assert len(passes) == NUM_STEPS
    first = metrics("first", materials)
    assert len(passes) == 2 * NUM_STEPS
    again, other = metrics("again", materials), metrics("other", materials, temperature=0.1)
    assert len(passes) == 2 * NUM_STEPS
    unshared = metrics("unshared", world.materials(), temperature=0.1)
    assert first == again == alone
    assert other == unshared != first


def test_a_cell_that_was_stopped_leaves_what_it_has(materials, tmp_path, passes):
    drive(train(detecting(), 3, materials, tmp_path / "stopped"), stop_at(2))
    list(train(detecting(), 3, materials, tmp_path / "whole"))
    assert len(passes) == NUM_STEPS


KEYS = {
    "seed": {"seed": 4},
    "batch size": {"batch_size": 8},
    "share": {"rtd": {"share": 0.3}},
    "positions": {"rtd": {"positions": "everywhere"}},
    "choice": {"rtd": {"choice": "sample"}},
    "precision": {"precision": "bf16"},
    "chunks": {"chunk_size": 4},
    "rank": {"rank": 1},
    "generator": {"generator": "another"},
    "corpus": {"corpus": "another"},
}


def folder_of(materials: Materials, *, seed: int = 3, rank: int = 0, rtd=None, **changes) -> Path:
    known = {name: changes.pop(name) for name in ("generator", "corpus") if name in changes}
    materials = dataclasses.replace(materials, fingerprints=materials.fingerprints | known)
    collectives = Collectives()
    collectives.rank = rank
    trial = small_trial(method={"rtd": rtd or {}, **changes.pop("method", {})}, **changes)
    opened = open_outputs(trial, seed, materials, collectives, CPU)
    assert opened is not None
    return opened._folder


def test_all_that_decides_the_outputs_is_in_the_key_threads_too_and_nothing_else(materials):
    folders = {name: folder_of(materials, **changes) for name, changes in KEYS.items()}
    assert len({folder_of(materials), *folders.values()}) == 1 + len(KEYS)
    assert {folder.parent for folder in folders.values()} == {materials.corpus.parent / FOLDER}
    others = (
        {"rtd": {"reduction": "sum", "h": "before_head"}},
        {"method": {"lambda2": 0.1, "temperature": 0.1}},
        {"optimizer": {"lr": 1e-4}},
        {"budget": {"unit": "steps", "amount": 40}},
    )
    assert {folder_of(materials, **changes) for changes in others} == {folder_of(materials)}
    before = folder_of(materials)
    threads = torch.get_num_threads()
    torch.set_num_threads(threads + 1)
    assert folder_of(materials) != before
    torch.set_num_threads(threads)
    assert folder_of(materials) == before


def test_nothing_is_shared_of_a_trial_without_generator(materials):
    trial = small_trial(method={"lambda2": 0.0})
    assert open_outputs(trial, 3, materials, Collectives(), CPU) is None
    assert not (materials.corpus.parent / FOLDER).exists()


def _detect(materials: Materials, rank: int, size: int, directory: Path) -> None:
    list(train(detecting(), 3, materials, directory, Group()))


@pytest.mark.slow
@pytest.mark.xdist_group("two_workers")
def test_each_worker_shares_its_own_rows(materials, tmp_path):
    histories = []
    for name in ("first", "again"):
        in_group(partial(_detect, materials), tmp_path / name)
        histories.append(read_result(tmp_path / name).history)
        written = {path: path.stat().st_mtime_ns for path in (tmp_path / FOLDER).glob("*/*")}
        assert len(written) == 2
    assert histories[0] == histories[1]


def test_a_graphed_cell_has_outputs_of_its_own_which_stand_elsewhere(materials):
    assert folder_of(materials, graphed=True) != folder_of(materials)


def test_a_cell_beside_a_graphed_one_has_its_own_numbers(world, materials, tmp_path):
    longer = dataclasses.replace(materials, corpus=materials_of(world).corpus)
    shutil.copytree(longer.corpus, tmp_path / "longer" / "corpus")
    longer = dataclasses.replace(longer, corpus=tmp_path / "longer" / "corpus")
    histories = []
    for name in ("alone", "beside"):
        points = train(detecting(max_length=64), SEED, longer, tmp_path / name)
        histories.append([point.metrics for point in points])
        shutil.rmtree(tmp_path / "longer" / FOLDER)
        list(train(detecting(max_length=64, graphed=True), SEED, longer, tmp_path / f"graphed, {name}"))
    assert histories[0] == histories[1]


def test_what_a_recorded_step_was_given_is_what_it_leaves_to_others(world, materials, tmp_path):
    known = []
    for number, recorder in enumerate((None, SimulatedGraphs())):
        of_its_own = tmp_path / str(number) / "corpus"
        shutil.copytree(materials_of(world).corpus, of_its_own)
        session = opened(dataclasses.replace(materials, corpus=of_its_own), recorder, method=RTD_ALONE)
        take(session)
        outputs = session.run.outputs
        session.close()
        known.append(read_block(outputs._path, CPU))
    ordinary, recorded = known
    assert [*ordinary] == [*recorded] == [*range(STEPS + 1)]  # one is made ahead
    for step in ordinary:
        assert torch.equal(recorded[step].places, ordinary[step].places), step
        assert torch.equal(recorded[step].tokens, ordinary[step].tokens), step
