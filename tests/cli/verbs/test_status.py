"""What `status` says of a study that runs, was interrupted, or is complete."""

import json
import re
import sqlite3
from contextlib import ExitStack
from pathlib import Path

import pytest

from rse_study.cli.status_content import StudyStatus, state_of
from rse_study.cli.verbs import status as show
from rse_study.cli.verbs.status import lines_of, summary_of
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point
from rse_study.results.study_record import ObjectiveRecord
from tests.cli.a_study import SEARCH, cell_of, end, fail, finish, run, start

DOCUMENT = Path(__file__).parents[3] / "docs" / "status.md"


@pytest.fixture
def study_dir(tmp_path):
    return tmp_path / "studies" / "little"


@pytest.fixture
def ledger(study_dir):
    with Ledger.open(study_dir) as ledger:
        ledger.freeze(SEARCH)
        yield ledger


@pytest.fixture
def halfway(ledger):
    return go_halfway(ledger)


def go_halfway(ledger):
    """Trials 0 and 1 ended, 2 failed, 3 runs for the second time; two cells of confirmation are to come."""
    run(ledger, cell_of(0), 50.0)
    run(ledger, cell_of(1), 60.0, duration_s=50.0)
    fail(ledger, cell_of(2), "step 3: the loss is not finite")
    start(ledger, cell_of(3))
    ledger.lose(cell_of(3).identity, "worker killed by signal 9")
    ledger.log("lost", "worker killed by signal 9", cell_of(3).identity)
    start(ledger, cell_of(3))
    ledger.record_progress(cell_of(3).identity, 0, {"dev": 10.0})
    ledger.record_progress(cell_of(3).identity, 30, {"dev": 40.0, "loss": float("nan")})
    return ledger


def test_what_was_spent_is_that_of_all_attempts_that_ended(halfway, study_dir):
    with sqlite3.connect(study_dir / "ledger.sqlite") as db:
        times = "started = '2026-01-01T10:00:00+00:00', ended = '2026-01-01T10:01:10+00:00', threads = 2"
        db.execute(f"UPDATE attempt SET {times} WHERE ended != ''")
    state = state_of(study_dir)
    assert state.device_s == 4 * 70.0 * 2  # two complete, one failed, one lost; the fifth runs
    spent = "spent: 9 min 20 s of device time (of 5 attempts, without the 1 that run"
    assert any(line.startswith(spent) for line in lines_of(state))


def test_everything_is_said_of_a_study_that_runs(halfway, study_dir):
    state = state_of(study_dir)
    counts = {"planned": 6, "complete": 2, "stopped_early": 0, "failed": 1, "running": 1, "missing": 2}
    assert (state.counts, state.is_complete, state.holder is None) == (counts, False, False)
    assert (state.best.trial, state.best.value, state.best.proposal) == (1, 60.0, {"rho": 0.25})
    (running,) = state.running
    assert (running.name, running.attempt, running.t, running.num_steps) == ("trial 3", 2, 30, 60)
    assert running.metrics == {"dev": 40.0, "loss": None}
    assert (state.num_attempts, state.num_retries) == (5, 1)
    (lost,), (failed,) = state.lost, state.failed
    assert (lost.name, lost.attempt, lost.reason) == ("trial 3", 1, "worker killed by signal 9")
    assert (failed.name, failed.reason) == ("trial 2", "step 3: the loss is not finite")
    assert [event["kind"] for event in state.events] == ["lost"]


def test_cells_that_another_study_ran_are_found_and_have_no_attempt(halfway, study_dir):
    assert "found" not in "\n".join(lines_of(state_of(study_dir)))
    taken = cell_of(4)
    halfway.plan([taken])
    assert state_of(study_dir).num_found == 0
    finish(halfway, taken, 55.0)
    state = state_of(study_dir)
    assert (state.num_found, state.num_attempts) == (1, 5)
    assert "results found on disk, not run here: 1 cell" in lines_of(state)


def test_what_is_left_is_the_median_times_what_is_missing_over_the_cells_at_a_time(halfway, study_dir):
    state = state_of(study_dir)
    # two cells of 40 s to come and half of one that runs, one at a time
    assert (state.median_s, state.cells_at_a_time, state.eta_s) == (40.0, 1, 100.0)
    start(halfway, cell_of(0, seed=1, stage="confirm"))
    state = state_of(study_dir)
    assert (state.cells_at_a_time, state.eta_s) == (2, (40.0 + 40.0 + 20.0) / 2)


def test_cells_of_a_stage_take_as_long_as_others_of_it(halfway, study_dir):
    run(halfway, cell_of(1, seed=1, stage="confirm"), 55.0, duration_s=200.0)
    assert state_of(study_dir).eta_s == 200.0 + 20.0


def test_what_has_ended_with_failed_cells_is_not_called_complete(rse, ran):
    lines = rse("status", "little").out.splitlines()
    assert lines[1] == "ended: 1 of 2 cells failed"


def test_nobody_can_say_how_long_before_a_cell_has_ended(ledger, study_dir):
    start(ledger, cell_of(0))
    state = state_of(study_dir)
    assert (state.eta_s, state.best) == (None, None)
    assert "left: unknown until a cell has ended" in lines_of(state)


def test_what_runs_without_a_holder_was_interrupted(study_dir):
    with Ledger.open(study_dir) as ledger:
        ledger.freeze(SEARCH)
        go_halfway(ledger)
    state = state_of(study_dir)
    assert state.holder is None
    text = "\n".join(lines_of(state))
    assert "not running; `rse-study run` resumes it" in text
    assert "6 cells: 2 complete, 1 failed, 2 to run, 1 interrupted" in text
    assert "interrupted (1):\n    trial 3: step 30/60  dev 40  attempt 2" in text
    assert "running (" not in text


def test_the_lines_name_best_and_reasons(halfway, study_dir):
    text = "\n".join(lines_of(state_of(study_dir)))
    assert "best: trial 1: 60.00  rho 0.25 (the score that selected it)" in text
    assert "lost attempts, retried (1):\n    trial 3, attempt 1: worker killed by signal 9" in text
    assert "failed (1):\n    trial 2, attempt 1: step 3: the loss is not finite" in text
    assert "left: about 1 min 40 s (median cell 40.0 s, 1 at a time)" in text
    assert re.search(r"run by process \d+ on \S+ since 20", text)
    assert summary_of(state_of(study_dir)).startswith(
        "6 cells: 2 complete, 1 failed, 1 running, 2 to run (trial 3"
    )


def test_confirmed_values_stand_beside_the_best(halfway, study_dir):
    finish(halfway, cell_of(3), 55.0)
    for seed, dev in ((1, 50.0), (2, 52.0)):
        run(halfway, cell_of(1, seed, stage="confirm"), dev)
    run(halfway, cell_of(-1, 1, stage="confirm", label="base", proposal={}), 53.0)
    state = state_of(study_dir)
    assert state.best.value == 60.0
    confirmed = [(s.trial, s.label, s.value, s.num_seeds) for s in state.confirmed]
    assert confirmed == [(1, "", 51.0, 2), (-1, "base", 53.0, 1)]
    shown = {"confirmed: trial 1: 51.00 (mean of 2 seeds)  rho 0.25", "confirmed: base: 53.00"}
    assert shown <= {*lines_of(state)}


def test_of_several_objectives_all_are_named_with_the_size_of_their_front(study_dir):
    drift = ObjectiveRecord(metric="loss", label="drift", direction="minimize")
    with Ledger.open(study_dir) as ledger:
        ledger.freeze(SEARCH.model_copy(update={"other_objectives": (drift,)}))
        for trial, (dev, loss) in enumerate([(50.0, 2.0), (60.0, 1.5), (55.0, 1.0), (61.0, 9.0)]):
            history = (Point(t=60, metrics={"dev": dev, "loss": loss}),)
            end(ledger, start(ledger, cell_of(trial)), history=history)
    state = state_of(study_dir)
    text = "\n".join(lines_of(state))
    assert "objectives: pairs dev, Spearman x100, maximize; drift, minimize" in text
    assert "best: trial 1: 60.00; 1.50  rho 0.25" in text
    assert "Pareto front: 3 trials, of which the best is the knee" in text
    assert (state.best.other_values, state.num_on_front) == ((1.5,), 3)


def test_rows_of_a_grid_go_by_their_names(tmp_path):
    study = SEARCH.model_copy(update={"kind": "grid", "num_cells": 4, "axes": ()})
    with Ledger.open(tmp_path) as ledger:
        ledger.freeze(study)
        simcse, ours = ({"stage": "grid", "label": label, "proposal": {}} for label in ("SimCSE", "ours"))
        for seed, dev in ((0, 40.0), (1, 60.0)):
            run(ledger, cell_of(0, seed, **simcse), dev)
        run(ledger, cell_of(1, 0, **ours), 55.0)  # one seed is no match for two
        start(ledger, cell_of(1, 1, **ours))
        state = state_of(tmp_path)
    assert (state.best.label, state.best.value, state.best.num_seeds) == ("SimCSE", 50.0, 2)
    assert state.running[0].name == "row ours seed 1"
    assert "best: trial 0 SimCSE: 50.00 (mean of 2 seeds)" in lines_of(state)


def test_rows_that_get_seeds_until_decided_say_how_far_they_are(tmp_path):
    until = {"until": "decided", "at_least": 3, "at_most": 9}
    resolved = {"grid": {"baseline": "SimCSE"}, "seeds": until}
    study = SEARCH.model_copy(
        update={"kind": "grid", "axes": (), "num_trials": 3, "num_cells": 27, "resolved": resolved}
    )
    rows = {"SimCSE": (50.0, 6), "ours": (53.0, 6), "theirs": (50.0, 4)}
    with Ledger.open(tmp_path) as ledger:
        ledger.freeze(study)
        for trial, (label, (mean, num_seeds)) in enumerate(rows.items()):
            for seed in range(num_seeds):
                noise = trial * (-1) ** seed + seed / 10
                run(ledger, cell_of(trial, seed, stage="grid", label=label), mean + noise / 4)
        state = state_of(tmp_path)
    assert [tuple(one.model_dump().values()) for one in state.rows] == [
        ("ours", "better", 6, 6),
        ("theirs", "undecided", 4, 9),
    ]
    assert state.counts | {"planned": 24, "complete": 16, "missing": 8} == state.counts
    assert (state.best.label, state.best.num_seeds) == ("ours", 6)
    told = list(lines_of(state))
    at = told.index("decided: 1 of 2 rows")
    assert told[at + 1 : at + 3] == [
        "    ours: better, 6 seeds",
        "    theirs: undecided, 4 of at most 9 seeds",
    ]


def test_json_holds_the_documented_keys(rse, halfway):
    ended = rse("status", "little", "--json")
    content = json.loads(ended.out)
    assert ended.code == 0
    assert list(content) == list(StudyStatus.model_fields)
    documented = re.findall(r"^\| `(\w+)` \|", DOCUMENT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert documented == list(content)


@pytest.mark.parametrize("study", ["little", "studies/little", "little.yaml"])
def test_a_study_goes_by_its_name_folder_or_file(rse, halfway, tmp_path, study):
    (tmp_path / "little.yaml").write_text("name: little\n")
    ended = rse("status", study)
    assert (ended.code, ended.out.splitlines()[0]) == (0, "little (search, revision 1): Does rho matter?")


def give_up(ledger):
    """Trial 0, which its process lost each time: no result."""
    ledger.freeze(SEARCH)
    ledger.fail(start(ledger, cell_of(0)).identity, "worker killed by signal 9")


@pytest.fixture
def left(study_dir):
    """A study with such a trial, that nobody runs."""
    with Ledger.open(study_dir) as ledger:
        give_up(ledger)
    return study_dir


def watch(rse, monkeypatch, *between):
    """Watch `little`; before each look but the first, one of `between` is called. Its output, and that it ended."""
    steps, looks = iter(between), []

    def look(folder):
        if looks:
            next(steps)()
        looks.append(folder)
        return state_of(folder)

    monkeypatch.setattr(show.content, "state_of", look)
    monkeypatch.setattr(show, "LOOK_SECONDS", 0.0)
    ended = rse("status", "little", "--watch")
    assert (ended.code, len(looks)) == (0, 1 + len(between))
    return ended.out


def test_watching_ends_with_the_study(rse, halfway, monkeypatch):
    def complete():
        finish(halfway, cell_of(3), 70.0)
        for seed in (1, 2):
            run(halfway, cell_of(3, seed, stage="confirm"), 65.0)

    lines = watch(rse, monkeypatch, lambda: None, complete).splitlines()
    assert lines[0].startswith("6 cells: 2 complete, 1 failed, 1 running, 2 to run (trial 3 step 30/60)")
    assert {"left: nothing", "confirmed: trial 3: 65.00 (mean of 2 seeds)  rho 0.75"} <= {*lines}


def test_watching_ends_at_once_where_nobody_runs_what_was_begun(rse, left, monkeypatch):
    assert "not running; `rse-study run` resumes it" in watch(rse, monkeypatch)


def test_a_study_that_has_not_begun_is_waited_for(rse, study_dir, monkeypatch):
    with Ledger.open(study_dir) as ledger:
        ledger.freeze(SEARCH)
    with ExitStack() as held:

        def begin():
            held.enter_context(Ledger.open(study_dir))

        assert "not running" in watch(rse, monkeypatch, lambda: None, begin, held.close)
