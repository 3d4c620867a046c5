"""Every tracker holds what the ledger says, once, whoever was interrupted where."""

import sqlite3
import sys
from collections import Counter

import pytest

from rse_study.errors import InputError
from rse_study.results.files.ledger import Ledger
from rse_study.trackers.copier import StudyCopier
from rse_study.trackers.study_content import read_study
from tests.results.world import HERE, result_of
from tests.slow import mostly_slow
from tests.trackers import small_study
from tests.trackers.backends import BACKENDS
from tests.trackers.small_study import COMPLETE, FAILED, INTERRUPTED, RUNNING, STOPPED, begin, grow, made

pytestmark = pytest.mark.xdist_group("trackers")  # one process imports the packages and makes the store

# MLflow's SQLite store takes seconds for what is a file to the others.
FAST_STORES = pytest.mark.parametrize(
    "backend", mostly_slow(BACKENDS, fast=["tensorboard", "wandb"]), indirect=True
)
STATES = ("complete", "failed", "stopped_early", "interrupted", "running")
MLFLOW_STATES = ("FINISHED", "FAILED", "KILLED", "SCHEDULED", "RUNNING")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "studies" / "halving"


def ledgers_numbers(folder, backend):
    """By identity: every number of the ledger that has begun, once."""
    found = {}
    for cell in (cell for trial in read_study(folder).trials for cell in trial.cells):
        noted = [*((point.t, point.values) for point in cell.points), (cell.last_step, cell.scores)]
        told = ((name, t, backend.stored(value)) for t, values in noted for name, value in values.items())
        found[cell.identity] = Counter((name, t, repr(value)) for name, t, value in told)
    return found


def require_equal(folder, backend, place):
    """The tracker holds the ledger's cells and numbers, and nothing else or twice."""
    ledger = ledgers_numbers(folder, backend)
    copies = {whole(identity, ledger): copy.numbers for identity, copy in backend.read(place).items()}
    assert copies == ledger


def whole(short, identities):
    (identity,) = [one for one in identities if one.startswith(short)]
    return identity


def test_what_is_there_is_what_the_ledger_says_once_even_copied_twice(backend, place, copy, folder):
    made(folder, begin)
    counts, numbers = copy(folder), ledgers_numbers(folder, backend).values()
    require_equal(folder, backend, place)
    assert (counts.num_cells, counts.num_numbers) == (5, sum(map(Counter.total, numbers)))
    counts = copy(folder)
    require_equal(folder, backend, place)
    assert (counts.num_cells, counts.num_numbers) == (0, 0)


@pytest.mark.parametrize("name", BACKENDS)
def test_without_its_package_the_extra_is_named(monkeypatch, name):
    for module in [module for module in sys.modules if module.partition(".")[0] == name]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)
    told = rf"{name}\S* is not installed: it is an extra\. pip install 'rse-study\[{name}\]', or: pip install {name}"
    with pytest.raises(InputError, match=told):
        BACKENDS[name].tracker("")


@FAST_STORES
def test_what_grew_is_added(backend, place, copy, folder):
    made(folder, begin)
    copy(folder)
    made(folder, grow)
    copy(folder)
    require_equal(folder, backend, place)


def test_one_tracker_follows_a_ledger_that_is_written(backend, place, folder):
    tracker = backend.tracker(place)
    copier = StudyCopier(tracker)
    with Ledger.open(folder) as ledger:
        begin(ledger)
        copier.copy(read_study(folder))
        grow(ledger)
        assert copier.copy(read_study(folder)).num_cells == 4
        assert copier.copy(read_study(folder)).num_cells == 0
        small_study.finish(ledger, RUNNING, [float("nan"), 12.0, 13.0])
    copier.copy(read_study(folder))
    tracker.close()
    require_equal(folder, backend, place)


def test_states_are_the_trackers_own(backend, place, copy, folder):
    with Ledger.open(folder) as ledger:
        begin(ledger)
        copy(folder)
    states = {identity: copy.state for identity, copy in backend.read(place).items()}
    cells = (COMPLETE, FAILED, STOPPED, INTERRUPTED, RUNNING)
    expected = MLFLOW_STATES if backend is BACKENDS["mlflow"] else STATES
    assert tuple(states[whole_of(cell, states)] for cell in cells) == expected


def whole_of(cell, shorts):
    (short,) = [one for one in shorts if cell.identity.startswith(one)]
    return short


def test_times_are_the_ledgers(backend, place, copy, folder):
    made(folder, begin)
    with sqlite3.connect(folder / "ledger.sqlite") as db:
        db.execute(
            "UPDATE attempt SET started = '2026-01-01T10:00:00+00:00' WHERE cell = ?", (COMPLETE.identity,)
        )
        db.execute(
            "UPDATE cell SET ended = '2026-01-01T10:01:00+00:00' WHERE identity = ?", (COMPLETE.identity,)
        )
    copy(folder)
    copies = backend.read(place)
    times = copies[whole_of(COMPLETE, copies)].times
    assert times["dev", 10] == pytest.approx(1767261630.0)  # 10:00:30: half of its steps
    assert times["dev", 20] == pytest.approx(1767261660.0)


class Stop(Exception):
    """Whoever copies ends in the middle."""


@FAST_STORES
@pytest.mark.parametrize("calls", mostly_slow([2, 3, 4, 5, 8, 11], fast=[5]))
def test_interrupted_anywhere_and_given_again_is_copied_once(
    backend, place, copy, folder, calls, monkeypatch
):
    made(folder, begin)
    tracker, left = backend.tracker(place), [calls]

    def counted(method):
        def call(*arguments):
            left[0] -= 1
            if left[0] < 0:
                raise Stop
            return method(*arguments)

        return call

    for name in ("begin_trial", "begin_cell", "add_points", "add_scores", "end_cell", "end_trial"):
        monkeypatch.setattr(tracker, name, counted(getattr(tracker, name)))
    with pytest.raises(Stop):
        StudyCopier(tracker).copy(read_study(folder))
    tracker.close()
    copy(folder)
    require_equal(folder, backend, place)


@pytest.mark.slow
def test_a_point_of_many_numbers_may_be_there_in_part(backend, place, copy, folder):
    """As if the process had died between two numbers of one step."""
    made(folder, begin)
    study = read_study(folder)
    tracker = backend.tracker(place)
    tracker.begin_study(study)
    trial = study.trials[0]
    (cell,) = trial.cells
    tracker.begin_trial(trial)
    tracker.begin_cell(cell)
    first = cell.points[0]
    tracker.add_points(cell, [type(first)(first.t, first.at, {"dev": first.values["dev"]})])
    tracker.close()
    copy(folder)
    require_equal(folder, backend, place)


@FAST_STORES
def test_a_cell_that_ran_again_with_other_numbers_is_copied_anew(backend, place, copy, folder):
    made(folder, begin)
    copy(folder)

    def run_again(ledger):
        ledger.start(STOPPED.identity, **HERE)
        ledger.record_result(result_of(STOPPED, [41.0, 42.0]))

    made(folder, run_again)
    copy(folder)
    require_equal(folder, backend, place)


@pytest.mark.slow
def test_two_studies_that_share_a_cell_both_have_it(backend, place, copy, folder, tmp_path):
    other = tmp_path / "studies" / "other"
    made(folder, begin)
    made(other, begin, lambda ledger: ledger.freeze(ledger.study().model_copy(update={"name": "other"})))
    copy(folder)
    assert copy(other).num_cells == 5
    assert copy(folder).num_cells == 0
