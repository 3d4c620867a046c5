import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from rse_study.results.device_time import seconds_between
from rse_study.results.files.ledger import Ledger
from rse_study.results.reader import Reader
from tests.results.world import HERE, STUDY, cell_of, result_of, score_of


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


# The work of one more cell, in steps of SQLite's virtual machine, in a small and in a large study.


EVERY = 10  # steps of the machine between two counts


def steps_of(ledger, write):
    """How many steps of the machine a write takes."""
    count = [0]

    def one_more():
        count[0] += EVERY

    ledger._db.set_progress_handler(one_more, EVERY)
    write()
    ledger._db.set_progress_handler(None, 0)
    return count[0]


def life_of_a_cell(ledger, cell):
    """The writes of a cell from its start to its scores."""
    return {
        "plan": lambda: ledger.plan([cell]),
        "start": lambda: ledger.start(cell.identity, **HERE),
        "point": lambda: ledger.record_progress(cell.identity, 10, {"dev": 1.0}),
        "result": lambda: ledger.record_result(result_of(cell, [1.0])),
        "scores": lambda: ledger.record_evaluations([score_of(cell.identity, 1.0)]),
    }


def test_a_cell_of_a_large_study_costs_its_ledger_no_more_than_one_of_a_small_study(tmp_path):
    with Ledger.open(tmp_path) as ledger:
        ledger.freeze(STUDY)
        steps = []
        for known, last in ((range(10), 10), (range(11, 200), 200)):
            for trial in known:
                for write in life_of_a_cell(ledger, cell_of(trial)).values():
                    write()
            writes = life_of_a_cell(ledger, cell_of(last))
            steps.append({name: steps_of(ledger, write) for name, write in writes.items()})
    small, large = steps
    assert {name: large[name] for name in large if large[name] > 1.2 * small[name] + EVERY} == {}


# kill -9 of the process that writes: every transaction is there as a whole or not at all.


NUM_METRICS, NUM_POINTS = 6, 40
WRITE = f"""
import sys
from itertools import count
from pathlib import Path
from rse_study.results.files.ledger import Ledger
from rse_study.results.records import CellRecord, EvaluationRow, RungRow
from rse_study.results.study_record import ObjectiveRecord, StudyRecord
from rse_study.results.files.result_file import Point, Result

points = [(t, {{f"metric{{i}}": float(t) for i in range({NUM_METRICS})}}) for t in range({NUM_POINTS})]
with Ledger.open(Path(sys.argv[1])) as ledger:
    for number in count():
        study = StudyRecord(name="s", objective=ObjectiveRecord(metric="metric0"), num_cells=number + 1)
        ledger.freeze(study, "one more")
        cell = CellRecord(identity=f"{{number:04x}}" * 16, trial=number, seed=0, config={{"n": number}})
        ledger.plan([cell])
        ledger.start(cell.identity, executor="inline", workers=1, threads=1)
        for t, metrics in points:
            ledger.record_progress(cell.identity, t, metrics)
            print("point", flush=True)
        ledger.record_rung(RungRow(cell=cell.identity, t=1, value=1.0, verdict="continue"))
        history = tuple(Point(t=t, metrics=metrics) for t, metrics in points)
        ledger.record_result(Result(identity=cell.identity, seed=0, config=cell.config, history=history))
        print("result", flush=True)
        row = EvaluationRow(subject=cell.identity, task="pairs", split="a", value=1.0, num_examples=1)
        ledger.record_evaluations([row.model_copy(update={{"split": split}}) for split in "abc"])
        print("scores", flush=True)
"""


@pytest.mark.parametrize("num_lines", [7, NUM_POINTS, NUM_POINTS + 1, 3 * NUM_POINTS + 11, 5 * NUM_POINTS])
def test_no_half_transaction_is_left(tmp_path, num_lines):
    seen = run_and_kill(tmp_path, num_lines)
    with sqlite3.connect(tmp_path / "ledger.sqlite") as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        points = db.execute("SELECT cell, t, count(*) FROM metric GROUP BY cell, t").fetchall()
        assert {number for _, _, number in points} == {NUM_METRICS}
        scores = db.execute("SELECT count(*) FROM evaluation GROUP BY subject").fetchall()
        assert {number for (number,) in scores} <= {3}
    with Reader(tmp_path) as reader:
        cells, attempts = reader.cells().set_index("identity"), reader.attempts().set_index("cell")
        assert len(reader.revisions()) in (len(cells), len(cells) + 1)
    num_points = Counter(cell for cell, _, _ in points)
    for identity, cell in cells.iterrows():
        if cell["status"] != "planned":
            assert attempts.loc[identity, "outcome"] == cell["status"]
        if cell["status"] == "complete":
            assert num_points[identity] == NUM_POINTS
    # What was committed before the kill is there: under WAL a process that dies takes nothing with it.
    assert len(points) >= seen["point"]
    assert list(cells["status"]).count("complete") >= seen["result"]
    assert len(scores) >= seen["scores"]


def run_and_kill(study_dir: Path, num_lines: int) -> Counter:
    """Kill the writer after so many lines; how many of each kind were seen."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITE, str(study_dir)], stdout=subprocess.PIPE, text=True
    ) as writer:
        seen = Counter(writer.stdout.readline().strip() for _ in range(num_lines))
        writer.kill()
    return seen
