"""One real study: Tune asks, Train trains, the ledger holds the answer. Ray runs once, for all tests here."""

import pytest

from rse_study.on_ray.driver import run_study
from rse_study.results.ledger import Ledger
from rse_study.results.result_file import read_result

pytestmark = pytest.mark.xdist_group("ray")


class Diary:
    """A watcher that remembers."""

    def __init__(self):
        self.events = []

    def started(self, cell):
        self.events.append(("started", cell.number))

    def progressed(self, cell, t, num_steps, metrics):
        self.events.append(("progressed", cell.number, t, num_steps))

    def ended(self, cell, record):
        self.events.append(("ended", cell.number, record.status))


@pytest.fixture(scope="module")
def ran(checked, materials, tmp_path_factory):
    """(folder, diary) of the study after it ran."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))  # Ray writes its token there
        diary = Diary()
        folder = run_study(checked, home / "little", lambda trial: materials, diary, num_cpus=2)
        yield folder, diary


def test_every_trial_is_complete_and_its_result_is_the_ledgers(ran):
    folder, _ = ran
    with Ledger.open(folder) as ledger:
        cells = ledger.cells()
        assert [(cell.trial, cell.status) for cell in cells] == [(0, "complete"), (1, "complete")]
        for cell in cells:
            result = read_result(folder / "cells" / cell.identity[:16])
            last = {row.name: row.value for row in ledger.history(cell.identity) if row.t == 3}
            assert last["dev"] == result.final["dev"]


def test_progress_was_heard_in_the_driver(ran):
    _, diary = ran
    assert ("ended", 0, "complete") in diary.events
    assert ("progressed", 1, 2, 3) in diary.events


def test_the_same_command_again_runs_nothing(ran, checked, materials):
    folder, _ = ran
    diary = Diary()
    run_study(checked, folder, lambda trial: materials, diary)
    assert diary.events == []
