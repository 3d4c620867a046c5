"""Ctrl-C on a terminal goes to the driver and to everything below it at once."""

import os
import signal

import pytest

from rse_study.results.files.ledger import Ledger
from tests.faults.drivers import assert_equal, contents

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("faults")]


def test_an_interrupted_study_ends_its_running_cells_and_goes_on_later(scene, whole, cluster):
    folder = scene.folder("interrupted")
    process = scene.start(folder)
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("progressed 0/0 1"):
            os.killpg(process.pid, signal.SIGINT)
            break
    said = process.stdout.read()
    process.wait(timeout=120)
    assert "running cells finish first" in said
    assert said.rstrip().endswith("KeyboardInterrupt")
    with Ledger.open(folder) as ledger:
        statuses = [cell.status for cell in ledger.cells()]
        assert {attempt.outcome for attempt in ledger.attempts()} == {"complete"}
    assert set(statuses) == {"complete", "planned"}
    scene.finish_here(folder, cluster)
    assert_equal(contents(folder), whole)
