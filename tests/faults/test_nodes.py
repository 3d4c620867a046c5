"""What a study on several nodes survives: a node without power. A storage that is gone: tests/on_ray/stored.

It ends with lines for docs/results/clusters.md (`pytest -m slow -rP tests/faults/test_nodes.py`).
"""

import os

import pytest

from tests.nodes.ledgers import changed, differences, rows_of
from tests.nodes.namespaces import needs_nodes
from tests.nodes.proving_ground import proving_ground, worker_of
from tests.nodes.small_studies import grid
from tests.nodes.submission import Submission, attempts_of, steps_redone

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("faults_of_nodes"),
    needs_nodes,
]

CELLS = grid("faulted", num_steps=100, every=10, seeds=[0, 1])
IN_MID_CELL = r"step [3-6]0/100 "


def _tell(what: str, submitted: Submission) -> None:
    """Print a line of the table, and what the driver said."""
    lost = [reason for _, _, outcome, reason in attempts_of(submitted.folder) if outcome == "lost"]
    redone = steps_redone(submitted.steps().values())
    load = os.getloadavg()[0]
    print(f"| {what} | {submitted.seconds:.0f} s | {len(lost)} | {redone} | load {load:.0f} | {lost}")
    print(submitted.text)


def test_a_node_without_power_costs_its_cell_an_attempt_and_nothing_else():
    """Compared with the study to which nothing happens; that one node makes the same: tests/on_ray/test_many_nodes."""
    with proving_ground() as ground:
        calm = ground.submit(CELLS, job="calm", store="/tmp/calm", prefix="calm")
        assert calm.finish() == 0, calm.text
        assert all(number == 1 for _, number, _, _ in attempts_of(calm.folder))
        _tell("nothing", calm)
        submitted = ground.submit(CELLS, job="power", store="/tmp/power", prefix="power")
        submitted.wait_for(IN_MID_CELL)
        before, victim = rows_of(submitted.folder, only_complete=True), worker_of(ground, "ImplicitFunc")
        victim.kill()
        assert ground.cluster.wait(2, seconds=60) < 60
        ground.cluster.restart(victim, empty_disk=True)
        assert submitted.finish() == 0, submitted.text
        _tell("a worker's power cut in mid-cell, back with an empty disk", submitted)
        after, attempts = rows_of(submitted.folder), attempts_of(submitted.folder)
        assert differences(rows_of(calm.folder), after) == []
    assert changed(before, after) == []
    ended = [cell for cell, _, outcome, _ in attempts if outcome == "complete"]
    assert len(ended) == len(set(ended))
    assert "lost" in {outcome for _, _, outcome, _ in attempts}
