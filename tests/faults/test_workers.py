"""Cells whose process is killed, stopped or out of memory: tried again or failed, with the reason on record.

One study for each executor; its cells suffer something else each, and the others nothing.
"""

import resource
import signal
from dataclasses import replace

import pytest

from rse_study.results.files.ledger import Ledger
from tests.faults.conftest import SMALL_GRID
from tests.faults.drivers import assert_equal, contents, workers_of

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("faults")]

CELLS = {"killed": (0, 0), "stopped": (1, 0), "hungry": (2, 0), "orphaned": (0, 1)}  # trial and seed
ROWS = {
    "inline": SMALL_GRID["grid"],
    "train": {"axes": SMALL_GRID["grid"]["axes"]},
}  # Train's workers start slowly
SILENCE_S = 12.0
TITLES = {"inline": "ImplicitFunc", "train": "RayTrainWorker"}


def study(executor):
    return SMALL_GRID | {
        "name": f"faults-{executor}",
        "grid": ROWS[executor],
        "resources": {
            "executor": executor,
            "max_concurrent": 1,
            "max_attempts": 2,
            "max_silence_s": SILENCE_S,
        },
    }


def starve(process):
    """No more memory for a process than it has, in what it has reserved without using it neither."""
    memory = process.memory_info()
    for kind, limit in ((resource.RLIMIT_AS, memory.vms), (resource.RLIMIT_DATA, memory.data)):
        resource.prlimit(process.pid, kind, (limit, limit))


def stop(process):
    process.send_signal(signal.SIGSTOP)


@pytest.fixture(scope="module", params=list(TITLES))
def folder(request, scene):
    """The study's folder after its cells suffered."""
    executor, title = request.param, TITLES[request.param]

    def each(act, title=title):
        return lambda driver: [act(process) for process in workers_of(driver, title)]

    here, folder = replace(scene, study=study(executor)), scene.folder(executor)
    here.act_on(
        folder,
        {
            "progressed 0/0 2": each(lambda process: process.kill()),
            # At its first word: a process that has trained before ends such a cell within half a second.
            "progressed 0/1 0": each(lambda process: process.kill(), title="ImplicitFunc"),
            # Before its first word it may not have started yet, and a process that cannot start says nothing at all.
            **(
                {"progressed 2/0 0": each(starve), "progressed 1/0 2": each(stop)}
                if executor == "inline"
                else {}
            ),
        },
    )
    return folder


def attempts(folder, suffering):
    with Ledger.open(folder) as ledger:
        (cell,) = (cell for cell in ledger.cells() if (cell.trial, cell.seed) == CELLS[suffering])
        return cell, ledger.attempts([cell.identity])


def test_a_killed_process_is_a_lost_attempt_and_the_next_one_completes(folder):
    cell, (first, second) = attempts(folder, "killed")
    assert (cell.status, first.outcome, second.outcome) == ("complete", "lost", "complete")
    assert first.reason


def test_a_killed_trial_is_a_lost_attempt_and_gives_back_what_it_held(folder):
    cell, (first, second) = attempts(folder, "orphaned")
    assert (cell.status, first.outcome, second.outcome) == ("complete", "lost", "complete")
    assert first.reason == "its process ended before it could say why"


def test_a_process_that_says_nothing_is_ended_by_the_watchdog(folder):
    if folder.name == "train":
        pytest.skip("the watchdog ends the trial, as one that is killed there")
    cell, (first, second) = attempts(folder, "stopped")
    assert (cell.status, first.outcome, second.outcome) == ("complete", "lost", "complete")
    assert first.reason == f"was silent for {SILENCE_S:g} s and was stopped"


def test_out_of_memory_is_said_and_the_next_attempt_gets_another_process(folder):
    if folder.name == "train":
        pytest.skip("a Train worker of so small a model has all the memory it needs before its first word")
    cell, (first, second) = attempts(folder, "hungry")
    assert (cell.status, first.outcome, second.outcome) == ("complete", "lost", "complete")
    assert "memory" in first.reason.lower()


def test_the_study_goes_on_and_its_numbers_are_those_of_an_undisturbed_one(folder, scene, whole):
    with Ledger.open(folder) as ledger, Ledger.open(scene.folder("whole")) as undisturbed:
        cells, absent = ledger.cells(), {cell.identity for cell in undisturbed.cells()}
        spared = [cell.identity for cell in cells if (cell.trial, cell.seed) not in CELLS.values()]
        assert {len(ledger.attempts([identity])) for identity in spared} == {1}
    assert {cell.status for cell in cells} == {"complete"}
    absent -= {cell.identity for cell in cells}
    assert len(absent) == {"inline": 0, "train": 2}[folder.name]
    wanted = {
        name: [row for row in rows if not any(one in row for one in absent)] for name, rows in whole.items()
    }
    assert_equal(contents(folder), wanted)
