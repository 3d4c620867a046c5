"""What a study on several nodes survives: a node without power, and a storage that is gone for a while or for good.

Each test ends with a line for docs/results/clusters.md (`pytest -m slow -rP tests/faults/test_nodes.py`).
"""

import os
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.nodes.ledgers import Rows, changed, differences, rows_of
from tests.nodes.namespaces import needs_nodes
from tests.nodes.proving_ground import ProvingGround, proving_ground, worker_of
from tests.nodes.small_studies import grid
from tests.nodes.submission import Submission, attempts_of, steps_redone

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("faults_of_nodes"),
    needs_nodes,
]

CELLS = grid("faulted", num_steps=100, every=10, seeds=[0, 1])
IN_MID_CELL = r"step [3-6]0/100 "


@pytest.fixture(scope="module")
def ground():
    with proving_ground() as ready:
        yield ready


@dataclass
class Undisturbed:
    """A study to which nothing happened."""

    rows: Rows
    seconds: float


@pytest.fixture(scope="module")
def calm(ground) -> Undisturbed:
    """The study with nothing happening to it; that one node makes the same: tests/on_ray/test_many_nodes.py."""
    submitted = ground.submit(CELLS, job="calm", store="/tmp/calm", prefix="calm")
    assert submitted.finish() == 0, submitted.text
    rows = rows_of(submitted.folder)
    assert all(number == 1 for _, number, _, _ in attempts_of(submitted.folder))
    _tell("nothing", submitted, submitted.seconds, submitted.folder)
    return Undisturbed(rows, submitted.seconds)


def _submit(ground: ProvingGround, name: str, study: dict = CELLS, **settings) -> Submission:
    """Submit under a name of its own: job, folder on the head's disk, prefix in the storage."""
    return ground.submit(study, **({"job": name, "store": f"/tmp/{name}", "prefix": name} | settings))


def _judge(folder: Path, whole: Rows, before: Rows) -> None:
    """Planned cells are complete, none twice, and nothing that was committed is another value now."""
    after = rows_of(folder)
    assert differences(whole, after) == []
    assert changed(before, after) == []
    ended = [cell for cell, _, outcome, _ in attempts_of(folder) if outcome == "complete"]
    assert len(ended) == len(set(ended))


def _tell(
    what: str, submitted: Submission, seconds: float, folder: Path, before: Submission | None = None
) -> None:
    """Print a line of the table, and what the driver said; `before`: its driver of before the fault."""
    lost = [reason for _, _, outcome, reason in attempts_of(folder) if outcome == "lost"]
    done = before.steps() if before else {}
    redone = steps_redone([*done.get(cell, []), *steps] for cell, steps in submitted.steps().items())
    print(f"| {what} | {seconds:.0f} s | {len(lost)} | {redone} | load {os.getloadavg()[0]:.0f} | {lost}")
    print(submitted.text)


def test_a_node_without_power_costs_its_cell_an_attempt(ground, calm):
    submitted = _submit(ground, "power")
    submitted.wait_for(IN_MID_CELL)
    before, victim = rows_of(submitted.folder, only_complete=True), worker_of(ground, "ImplicitFunc")
    victim.kill()
    assert ground.cluster.wait(2, seconds=60) < 60
    ground.cluster.restart(victim, empty_disk=True)
    assert submitted.finish() == 0, submitted.text
    _judge(submitted.folder, calm.rows, before)
    assert "lost" in {outcome for _, _, outcome, _ in attempts_of(submitted.folder)}
    _tell(
        "a worker's power cut in mid-cell, back with an empty disk",
        submitted,
        submitted.seconds,
        submitted.folder,
    )


def test_a_storage_that_is_gone_is_waited_for_and_one_that_is_gone_for_good_ends_the_run(ground, calm):
    submitted = _submit(ground, "gone-for-good", env={"RSE_STUDY_STORAGE_PATIENCE": "30"})
    submitted.wait_for(IN_MID_CELL)
    ground.storage.pause("refused")  # one that is silent: tests/storage
    time.sleep(15)
    ground.storage.resume()
    one_is_complete = submitted.wait_for(r"complete .*\[1 of 4")
    submitted.wait_for(IN_MID_CELL, after=one_is_complete.seconds)
    ground.storage.pause("unplugged")
    gone = submitted.seconds
    assert submitted.finish() == 3, submitted.text
    told = submitted.seconds - gone
    assert "did not answer for 30 s" in submitted.text and "Traceback" not in submitted.text
    before = rows_of(submitted.folder, only_complete=True)
    assert any(table == "cells" for table, _ in before)
    assert "complete" in {outcome for _, _, outcome, _ in attempts_of(submitted.folder)}
    ground.storage.resume()
    again = _submit(ground, "gone-for-good", job="gone-for-good-again")
    assert again.finish() == 0, again.text
    _judge(submitted.folder, calm.rows, before)
    _tell(
        f"storage gone for 15 s, then for good (patience 30 s): exit code 3 after {told:.0f} s",
        submitted,
        told,
        submitted.folder,
    )
    _tell("... and submitted again when it was back", again, again.seconds, again.folder, submitted)
