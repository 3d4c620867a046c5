"""Ray's own processes killed under a study: said in one line, started again, given up where it happens too often."""

import re

import psutil
import pytest

from rse_study.results.files.ledger import Ledger
from tests.faults.drivers import assert_equal, contents, kill_part_of_ray

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("faults")]
ENDED = {"raylet": "its node process (raylet) ended", "gcs_server": "its head process (GCS) ended"}
NOISE = re.compile(r"Traceback|\(raylet\) |rpc_client|ERROR|Error:|core_worker|\.cc:")


def assert_said_in_one_line(lines, folder, part, times):
    """What Ray itself says of it is in the file that the line names."""
    (line,) = (line for line in lines if "Ray was lost: " in line)
    wanted = (
        rf"Ray was lost: {re.escape(ENDED[part])}; (1 cell is|2 cells are) tried again; it is started again "
    )
    assert re.match(wanted + rf"\({times}\)\. Ray's log is in .*/log/ray-\w+\.txt$", line)
    assert not [other for other in lines if other != line and NOISE.search(other)]
    (log,) = (log for log in (folder / "log").iterdir() if line.endswith(str(log)))
    assert f"Ray was lost: {ENDED[part]}" in log.read_text()


def test_without_its_head_it_goes_on_with_what_ran_and_ends_as_an_undisturbed_one(scene, whole):
    for number in range(3):
        folder = scene.folder(f"without-head-{number}")
        lines = scene.act_on(
            folder, {"progressed 0/0 2": lambda driver: kill_part_of_ray(driver, "gcs_server")}
        )
        if not lines[-1].startswith("gave up: "):
            break
        # Killed in the very moment in which a trial was started: the last resort (decision 0018).
    else:
        pytest.fail("three times in a row the driver was caught while it started a trial")
    assert_said_in_one_line(lines, folder, "gcs_server", "1 of 3 times")
    with Ledger.open(folder) as ledger:
        reasons = {attempt.reason for attempt in ledger.attempts() if attempt.outcome == "lost"}
    assert reasons == {f"Ray was lost: {ENDED['gcs_server']}"}
    assert_equal(contents(folder), whole)


def test_a_node_that_is_lost_again_and_again_is_given_up_and_the_same_command_goes_on(scene, whole, cluster):
    folder = scene.folder("again-and-again")
    once = "from rse_study.on_ray import runtime; runtime.MAX_RESTARTS = 1"  # each takes half a minute
    process, lines = scene.start(folder, first=once), []
    assert process.stdout is not None
    for line in process.stdout:
        lines.append(line.rstrip())
        if line.startswith("started 0/0"):
            kill_part_of_ray(psutil.Process(process.pid), "raylet")
    assert process.wait(timeout=60) != 0
    given_up = next(number for number, line in enumerate(lines) if "Unavailable: " in line)
    assert f"Unavailable: Ray was lost 2 times in this run, now: {ENDED['raylet']}" in lines[given_up]
    traceback = next(number for number, line in enumerate(lines) if line.startswith("Traceback"))
    assert_said_in_one_line(lines[:traceback], folder, "raylet", "1 of 1 times")
    with Ledger.open(folder) as ledger:
        assert {attempt.outcome for attempt in ledger.attempts()} == {"lost"}
        assert not [cell for cell in ledger.cells() if cell.status == "failed"]
    scene.finish_here(folder, cluster)
    assert_equal(contents(folder), whole)
