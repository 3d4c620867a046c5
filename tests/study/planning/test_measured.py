"""Seconds for a unit of work, from cells that are alike or nearly so."""

import sqlite3
from dataclasses import replace

import pytest

from rse_study.results.files.ledger import Ledger
from rse_study.results.files.schema import ledger_path
from rse_study.results.records import EvaluationRow
from rse_study.spec import fingerprint_of
from rse_study.study.definition.parts import Resources
from rse_study.study.planning.measured import (
    NEWEST,
    Conditions,
    History,
    Range,
    TimedWork,
    assumptions,
    exactly,
    history_of,
    pace_of,
    seconds_beside,
    work_of,
)
from rse_study.training.trial import Trial
from tests.cases import cases
from tests.study.planning.priced import enter, grid_of, rows

BASE = Trial()
HERE = Conditions.wanted(BASE, Resources())


def timed(seconds, work=10.0, **changes):
    conditions = HERE._replace(**{name: changes.pop(name) for name in list(changes) if name in HERE._fields})
    return TimedWork(conditions, seconds, work, **changes)


def test_the_pace_is_that_of_cells_alike_and_spreads_as_they_do():
    assert pace_of([], HERE) is None
    assert pace_of([timed(20.0)], HERE) == exactly(2.0)
    many = [timed(float(seconds)) for seconds in range(10, 31)]
    assert pace_of(many, HERE) == Range(1.2, 2.0, 2.8)
    assert pace_of([*many, timed(900.0, batch_size=128)], HERE) == Range(1.2, 2.0, 2.8)


@cases("changes", [{"batch_size": 128}, {"max_length": 128}, {"workers": 2}, {"threads": 4}])
def test_other_batches_lengths_workers_and_threads_tell_half_to_twice_as_much(changes):
    assert pace_of([timed(20.0, **changes)], HERE) == Range(1.0, 2.0, 4.0)
    (note,) = assumptions([timed(20.0, beside=1.0, **changes)], [HERE])
    assert "was timed" in note
    assert not list(
        assumptions([timed(20.0, beside=1.0)], [HERE, HERE._replace(gpus=1.0)])
    )  # unknown, not scaled


@cases(
    "changes",
    [{"encoder": "minilm"}, {"revision": "v2"}, {"precision": "bf16"}, {"compiled": True}, {"gpus": 0.25}],
)
def test_another_encoder_or_share_of_a_gpu_tells_nothing(changes):
    assert pace_of([timed(20.0, **changes)], HERE) is None


def test_the_work_of_a_step_is_that_of_its_method_for_each_sentence():
    assert work_of(BASE, 7) == 7 * BASE.step_work * BASE.batch_size


def test_time_beside_training_is_that_of_cells_with_the_same_scores_else_goes_by_their_number():
    cells = [timed(9.0, beside=2.0), timed(9.0, beside=4.0), timed(9.0)]
    cells.append(timed(9.0, beside=30.0, scored=frozenset({"a/test", "b/test"})))
    assert seconds_beside(cells, ()) == pytest.approx(3.0)
    assert seconds_beside(cells, ["b/test", "a/test"]) == pytest.approx(30.0)
    assert seconds_beside(cells, ["c/test"]) == pytest.approx(15.0)
    assert seconds_beside(cells[:3], ["c/test"]) == seconds_beside([], ()) == 0.0


def test_a_time_beside_training_that_nobody_knows_is_said():
    (note,) = assumptions([timed(9.0)], [HERE])
    assert "unknown until one has ended here" in note


def test_cards_and_shares_of_them_are_named():
    assert not list(assumptions([timed(9.0, beside=1.0)], [HERE]))
    quarter = HERE._replace(gpus=0.25)
    cells = [replace(timed(9.0, beside=1.0), conditions=quarter, card=card) for card in ("T4", "A100")]
    cards, shares = assumptions(cells, [quarter])
    assert cards == "timed on A100, T4: times differ on other GPUs"
    assert shares.endswith("a cell alone on its GPU: cells that share one may take longer")


RHOS = {"axes": {"rho": [0, 0.5]}}
SCORED = {"evaluations": ["builtin/test"]}


@pytest.fixture
def grid(content):
    return grid_of(content, RHOS, seeds=[0, 1], **SCORED)


@pytest.fixture
def folder(grid, tmp_path):
    """Row 0 is complete with both seeds, the first one scored; row 1 has failed, and runs."""
    cells = [*rows(grid)[:2], ("grid", 1, grid.rows[1].trial, 0, "failed")]
    cells.append(("grid", 1, grid.rows[1].trial, 1, "running"))
    folder = enter(grid, tmp_path, cells, duration_s=300.0)
    with Ledger.open(folder) as ledger:
        subject = fingerprint_of(["grid", 0, 0])
        score = EvaluationRow(subject=subject, task="builtin", split="test", value=1.0, num_examples=4)
        ledger.record_evaluations([score])
    times = "started = '2026-01-01T00:00:00+00:00', ended = '2026-01-01T00:05:20+00:00'"
    edit(folder, f"UPDATE attempt SET {times}")
    edit(folder, f"UPDATE cell SET {times} WHERE status = 'complete'")
    return folder


def edit(folder, statement):
    """Times are the clock's: tests set them afterwards."""
    with sqlite3.connect(ledger_path(folder)) as connection:
        connection.execute(statement)


def history(grid, folder, encoder="tiny") -> History:
    return history_of(grid, folder.parent, {encoder})


def test_times_are_those_of_complete_cells_of_these_encoders(grid, folder):
    found = history(grid, folder)
    assert found.source == f"2 cells of {folder.name}"
    expected = {(300.0, work_of(grid.rows[0].trial, 60), 20.0)}
    assert {(one.seconds, one.work, one.beside) for one in found.timed} == expected
    assert {one.conditions for one in found.timed} == {
        Conditions.wanted(grid.rows[0].trial, grid.study.resources)
    }
    assert {one.scored for one in found.timed} == {frozenset(), frozenset({"builtin/test"})}
    assert history(grid, folder, "minilm") == History()


def test_a_damaged_ledger_and_configurations_of_other_versions_are_left_out(grid, folder):
    (folder.parent / "broken").mkdir()
    ledger_path(folder.parent / "broken").write_text("no database")
    assert history(grid, folder).source == f"2 cells of {folder.name}"
    edit(folder, "UPDATE cell SET config = json_set(config, '$.method.name', 'unheard_of')")
    assert history(grid, folder) == History()


@cases(
    ("provenance", "gpus", "card"),
    [
        ({"device_type": "cpu", "device": "x86"}, 0.0, ""),
        ({"device_type": "cuda", "device": "T4"}, 0.25, "T4"),
    ],
)
def test_cells_of_a_gpu_tell_its_name_and_their_share_of_it(grid, tmp_path, provenance, gpus, card):
    folder = enter(grid, tmp_path, rows(grid)[:1], provenance=provenance)
    with Ledger.open(folder) as ledger:
        ledger.add_provenance({"gpus": 0.25})
    edit(folder, "UPDATE provenance SET at = '2025-12-31T23:59:59+00:00'")
    assert {(one.conditions.gpus, one.card) for one in history(grid, folder).timed} == {(gpus, card)}


def test_cells_that_another_study_has_run_alike_are_taken(content, grid, tmp_path):
    enter(grid, tmp_path, rows(grid), has_model=False)

    def taken(**changes):
        other = grid_of(content, RHOS, name="other", seeds=[0, 1], **changes)
        return history_of(other, tmp_path, {"tiny"}).elsewhere

    alone = {"keep_models": "none", "evaluations": []}
    names = {(trial, seed): grid.study.name for _, _, trial, seed, _ in rows(grid)}
    assert taken(**alone) == names
    for changes in ({"storage": str(tmp_path)}, {"resources": {"gpus": 1}}, SCORED, {"keep_models": "final"}):
        assert taken(**(alone | changes)) == {}, changes


def test_only_the_newest_cells_of_a_ledger_are_read(content, tmp_path):
    grid = grid_of(content, RHOS, seeds=list(range(NEWEST)))
    enter(grid, tmp_path, rows(grid, range(NEWEST // 2 + 1)), has_model=False)
    assert len(history_of(grid, tmp_path, {"tiny"}).timed) == NEWEST
