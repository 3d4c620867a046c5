import pytest

from rse_study.results.device_time import seconds_between
from rse_study.results.files.ledger import Ledger
from tests.results.world import HERE, result_of


@pytest.fixture
def ledger(study_dir):
    with Ledger.open(study_dir) as ledger:
        yield ledger


def outcomes(ledger):
    return [(a.number, a.outcome, a.reason, bool(a.ended)) for a in ledger.attempts()]


def test_attempts_are_numbered_and_say_where_they_ran(ledger, cells):
    name = cells[0].identity
    assert ledger.start(name, executor="inline", workers=1, threads=2) == 1
    ledger.lose(name, "node lost")
    assert ledger.start(name, executor="train", workers=4, threads=1) == 2
    assert ledger.start(cells[1].identity, **HERE) == 1
    found = [(a.number, a.executor, a.workers, a.threads) for a in ledger.attempts([name])]
    assert found == [(1, "inline", 1, 2), (2, "train", 4, 1)]
    assert len(ledger.attempts()) == 3


def test_a_started_cell_runs_and_forgets_how_it_failed(ledger, cells):
    name = cells[0].identity
    ledger.fail(name, "ended without a result")
    ledger.start(name, **HERE)
    cell = ledger.cell(name)
    assert (cell.status, cell.reason, cell.ended) == ("running", "", "")
    assert cell.started


@pytest.mark.parametrize("status", ["complete", "failed", "stopped_early"])
def test_a_result_closes_the_attempt_with_its_own_outcome(ledger, cells, status):
    ledger.start(cells[0].identity, **HERE)
    ledger.record_result(result_of(cells[0], [1.0], status=status, reason="why"))
    assert outcomes(ledger) == [(1, status, "why", True)]


def test_a_result_that_is_adopted_later_changes_no_attempt(ledger, cells):
    ledger.start(cells[0].identity, **HERE)
    ledger.close_attempts("the driver ended")
    ledger.record_result(result_of(cells[0], [1.0]))
    assert outcomes(ledger) == [(1, "lost", "the driver ended", True)]
    assert ledger.cell(cells[0].identity).status == "complete"


def test_a_lost_cell_is_planned_as_if_it_had_never_begun(ledger, cells):
    before = ledger.cells()
    ledger.start(cells[0].identity, **HERE)
    ledger.lose(cells[0].identity, "worker died")
    assert ledger.cells() == before
    assert outcomes(ledger) == [(1, "lost", "worker died", True)]


def test_at_the_start_of_a_run_nothing_runs(ledger, cells):
    ledger.record_result(result_of(cells[0], [1.0]))
    ledger.start(cells[1].identity, **HERE)
    for reason in ("the driver ended", "asked again"):
        ledger.close_attempts(reason)
        assert [cell.status for cell in ledger.cells()] == ["complete", "planned"]
        assert outcomes(ledger) == [(1, "lost", "the driver ended", True)]


def test_a_stopped_cell_may_go_on(ledger, cells):
    ledger.start(cells[0].identity, **HERE)
    ledger.record_result(result_of(cells[0], [1.0], status="stopped_early", reason="stopped at step 10"))
    assert ledger.start(cells[0].identity, **HERE) == 2
    ledger.record_result(result_of(cells[0], [1.0, 2.0]))
    assert [a.outcome for a in ledger.attempts()] == ["stopped_early", "complete"]
    assert (ledger.cell(cells[0].identity).status, ledger.cell(cells[0].identity).reason) == ("complete", "")


def spent(ledger):
    (one,) = ledger.attempts()
    return one.outcome, seconds_between(one.started, one.ended)


def set_clock(monkeypatch, minutes):
    """Let the ledger's clock show so many minutes after noon."""
    for module in ("ledger", "connect"):
        monkeypatch.setattr(
            f"rse_study.results.files.{module}.now", lambda: f"2026-01-01T12:{minutes:02}:00+00:00"
        )


def test_an_attempt_ends_with_its_driver_and_not_with_the_next_run(study_dir, cells, monkeypatch):
    set_clock(monkeypatch, 0)
    with Ledger.open(study_dir) as ledger:
        ledger.start(cells[0].identity, **HERE)
        set_clock(monkeypatch, 2)
    set_clock(monkeypatch, 50)
    with Ledger.open(study_dir) as ledger:
        assert spent(ledger) == ("running", 120.0)  # so `status` says it
        ledger.close_attempts("the driver ended")
        assert spent(ledger) == ("lost", 120.0)


def test_an_attempt_whose_driver_was_killed_ends_at_its_last_sign_of_life(study_dir, cells, monkeypatch):
    set_clock(monkeypatch, 0)
    killed = Ledger.open(study_dir)
    killed.start(cells[0].identity, **HERE)
    set_clock(monkeypatch, 3)
    killed.require_file()  # as a driver does between steps
    killed._db.close()
    killed._lock.close()
    for minutes in (20, 50):  # whoever opens it first, a run or not
        set_clock(monkeypatch, minutes)
        with Ledger.open(study_dir) as ledger:
            assert spent(ledger) == ("running", 180.0)


def test_an_attempt_of_a_killed_driver_whose_archive_is_opened_later_ends_with_the_newest_one(
    study_dir, cells, monkeypatch
):
    set_clock(monkeypatch, 0)
    killed = Ledger.open(study_dir)
    killed.start(cells[0].identity, **HERE)
    set_clock(monkeypatch, 4)
    killed.start(cells[1].identity, **HERE)
    killed._db.close()
    killed._lock.close()
    (study_dir / "ledger.lock").unlink()  # which no archive has
    set_clock(monkeypatch, 50)
    with Ledger.open(study_dir) as ledger:
        ledger.close_attempts("the driver ended")
        assert [seconds_between(one.started, one.ended) for one in ledger.attempts()] == [240.0, 0.0]
