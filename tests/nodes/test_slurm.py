"""The Slurm of the tests is a real one: a job runs on all of its nodes, and can be cancelled."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.nodes.namespaces import SHARED, Nodes
from tests.nodes.slurm import Slurm, environment, needs_slurm, running_slurm

pytestmark = needs_slurm


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    folder: Path = tmp_path_factory.mktemp("shared")
    with Nodes(2, env=environment(), shared=folder) as nodes, running_slurm(nodes) as running:
        yield running


def test_a_job_runs_on_every_node(slurm: Slurm) -> None:
    job = submit(slurm, "two", "srun --ntasks-per-node=1 hostname")
    wait_until(lambda: slurm.state_of(job) == "COMPLETED")
    assert sorted(output(slurm, "two").split()) == ["rn1", "rn2"]


def test_a_cancelled_job_hears_of_it(slurm: Slurm) -> None:
    job = submit(slurm, "cancelled", "trap 'echo heard; exit 3' TERM; echo begun; sleep 60 & wait")
    wait_until(lambda: output(slurm, "cancelled") == "begun\n")
    slurm.run("scancel", job)
    wait_until(lambda: slurm.state_of(job) == "CANCELLED")
    wait_until(lambda: "heard" in output(slurm, "cancelled").splitlines())


def submit(slurm: Slurm, name: str, commands: str) -> str:
    """Submit a script for all nodes; the job's number."""
    assert slurm.nodes.shared is not None
    script = f"#!/bin/bash\n#SBATCH --nodes=2 --output={SHARED}/{name}.out\n{commands}\n"
    (slurm.nodes.shared / f"{name}.sh").write_text(script, encoding="utf-8")
    return slurm.run("sbatch", "--parsable", str(SHARED / f"{name}.sh")).strip()


def output(slurm: Slurm, name: str) -> str:
    assert slurm.nodes.shared is not None
    file = slurm.nodes.shared / f"{name}.out"
    return file.read_text(encoding="utf-8") if file.exists() else ""


def wait_until(is_so: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, f"not so within {seconds:.0f} s"
        time.sleep(0.1)
