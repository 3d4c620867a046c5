"""Ray's own processes killed under a study: said in one line, started again, given up where it happens too often."""

import re

import psutil
import pytest

from rse_study.results.files.ledger import Ledger
from tests.faults.drivers import assert_equal, contents, kill_part_of_ray

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("faults")]
ENDED = {"raylet": "its node process (raylet) ended", "gcs_server": "its head process (GCS) ended"}
NOISE = re.compile(r"Traceback|\(raylet\) |rpc_client|ERROR|Error:|core_worker|\.cc:")


@pytest.fixture(scope="module", params=list(ENDED))
def disturbed(request, scene):
    """The folder of a study whose Ray lost a process in mid-cell, and what the driver said."""
    for number in range(3):
        folder = scene.folder(f"without-{request.param}-{number}")
        lines = scene.act_on(
            folder, {"progressed 0/0 2": lambda driver: kill_part_of_ray(driver, request.param)}
        )
        if not lines[-1].startswith("gave up: "):
            return request.param, folder, lines
        # Killed in the very moment in which a trial was started: the last resort (decision 0018).
    pytest.fail("three times in a row the driver was caught while it started a trial")


def test_it_is_said_in_one_line_and_the_rest_is_in_a_file(disturbed):
    name, folder, lines = disturbed
    (line,) = (line for line in lines if "Ray was lost" in line)
    wanted = (
        rf"Ray was lost: {re.escape(ENDED[name])}; (1 cell is|2 cells are) tried again; it is started again "
    )
    assert re.match(wanted + r"\(1 of 3 times\)\. Ray's log is in .*/log/ray-\w+\.txt$", line)
    assert not [other for other in lines if other != line and NOISE.search(other)]
    (log,) = (folder / "log").iterdir()
    assert line.endswith(str(log))
    assert f"Ray was lost: {ENDED[name]}" in log.read_text()


def test_the_study_goes_on_with_what_ran_and_ends_as_an_undisturbed_one(disturbed, whole):
    name, folder, _ = disturbed
    with Ledger.open(folder) as ledger:
        reasons = {attempt.reason for attempt in ledger.attempts() if attempt.outcome == "lost"}
    assert reasons == {f"Ray was lost: {ENDED[name]}"}
    assert_equal(contents(folder), whole)


def test_a_ray_that_is_lost_again_and_again_is_given_up_and_the_same_command_goes_on(scene, whole):
    folder = scene.folder("again-and-again")
    once = "from rse_study.on_ray import runtime; runtime.MAX_RESTARTS = 1"  # each takes half a minute
    process, losses, said = scene.start(folder, first=once), 0, ""
    assert process.stdout is not None
    for line in process.stdout:
        said += line
        losses += "Ray was lost: " in line and "Unavailable" not in line
        if line.startswith("started 0/0"):
            kill_part_of_ray(psutil.Process(process.pid), "raylet")
    assert process.wait(timeout=60) != 0
    assert losses == 1
    assert f"Unavailable: Ray was lost 2 times in this run, now: {ENDED['raylet']}" in said
    with Ledger.open(folder) as ledger:
        assert {attempt.outcome for attempt in ledger.attempts()} == {"lost"}
        assert not [cell for cell in ledger.cells() if cell.status == "failed"]
    scene.finish(folder)
    assert_equal(contents(folder), whole)
