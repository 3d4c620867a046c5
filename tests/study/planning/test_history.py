"""What real ledgers tell a plan."""

import shutil
import sqlite3
from itertools import product

import pytest

from rse_study.errors import InputError
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point, Result, write_result
from rse_study.results.files.schema import cell_folder, ledger_path
from rse_study.results.records import CellRecord, EvaluationRow, RungRow
from rse_study.results.study_record import ObjectiveRecord, StudyRecord
from rse_study.study.planning.data_sizes import DataSizes
from rse_study.study.planning.history import history_of
from rse_study.study.planning.plan import plan
from rse_study.study.planning.throughput import Throughput
from tests.study.planning.priced import grid_of

FIVE = 48 * 60 + 4 * 50  # work of a cell of the base


@pytest.fixture
def grid(content):
    return grid_of(content, {"axes": {"rho": [0, 0.5, 1]}}, seeds=[0, 1], evaluations=["builtin/test"])


def cell_of(row, number, seed):
    about = {"config": row.trial.model_dump(mode="json"), "proposal": row.proposal, "stage": "grid"}
    return CellRecord(identity=f"{number:02x}{seed:02x}" + "d" * 60, trial=number, seed=seed, **about)


def result_of(cell, **changes):
    point = Point(t=60, metrics={"dev": 50.0})
    where = {"device_type": "cpu", "workers": 1, "threads": 1}
    settings = {"history": (point,), "provenance": where, "duration_s": 313.0, **changes}
    return Result(identity=cell.identity, seed=cell.seed, config=cell.config, **settings)


@pytest.fixture
def study_dir(grid, tmp_path):
    """By row: complete and scored, complete; stopped at 15, failed with its result; failed without one, planned."""
    folder = tmp_path / "store" / "little"
    cells = [cell_of(row, number, seed) for number, row in enumerate(grid.rows) for seed in (0, 1)]
    with Ledger.open(folder) as ledger:
        objective = ObjectiveRecord(metric="dev")
        ledger.freeze(StudyRecord(name="little", objective=objective, kind="grid", num_cells=6))
        ledger.plan(cells)
        for cell in cells[:5]:
            ledger.start(cell.identity, executor="inline", workers=1, threads=1)
        ledger.record_result(result_of(cells[0]))
        ledger.record_result(result_of(cells[1]))
        ledger.record_rung(RungRow(cell=cells[2].identity, t=15, value=40.0, verdict="stop"))
        ledger.record_result(result_of(cells[2], status="stopped_early"))
        failed = result_of(cells[3], status="failed", reason="step 3: the loss is not finite")
        write_result(cell_folder(folder, cells[3].identity), failed)
        ledger.record_result(failed)
        ledger.fail(cells[4].identity, "its process was lost")
        subject = cells[0].identity
        score = EvaluationRow(subject=subject, task="builtin", split="test", value=1.0, num_examples=4)
        ledger.record_evaluations([score])
        (cell_folder(folder, cells[0].identity) / "model").mkdir(parents=True)
    edit(
        folder,
        "UPDATE attempt SET started = '2026-01-01T00:00:00+00:00', ended = '2026-01-01T00:05:20+00:00'",
    )
    return folder


def edit(folder, statement):
    """Times are the clock's: tests set them afterwards."""
    with sqlite3.connect(ledger_path(folder)) as connection:
        connection.execute(statement)


def history(study_dir, tmp_path, encoders=("tiny",)):
    return history_of(study_dir, study_dir.parent, DataSizes(tmp_path), encoders)


def test_cells_are_known_by_what_became_of_them(grid, study_dir, tmp_path):
    known, _ = history(study_dir, tmp_path)
    states = {(cell.number, cell.seed): cell.status for cell in known.cells}
    # The fifth was lost, which says nothing about it.
    became = ("complete", "complete", "stopped_early", "failed", "planned", "planned")
    assert states == dict(zip(product(range(3), range(2)), became, strict=True))
    by_cell = {(cell.number, cell.seed): cell for cell in known.cells}
    assert by_cell[0, 0].trial == grid.rows[0].trial
    assert (by_cell[0, 0].scored, by_cell[0, 0].has_model) == ({"builtin/test"}, True)
    assert (by_cell[0, 1].scored, by_cell[0, 1].has_model) == (frozenset(), False)
    assert by_cell[1, 0].t == 15


def test_the_plan_of_a_study_that_was_interrupted(grid, study_dir, tmp_path):
    known, rates = history(study_dir, tmp_path)
    planned = plan(grid, known, rates, DataSizes(tmp_path))
    (stage,) = planned.stages
    assert (stage.num_done, stage.num_stopped, stage.num_failed, stage.num_to_run) == (2, 1, 1, 2)
    assert planned.new == {"rho = 1": [0, 1]}
    assert planned.scores.missing == {"builtin/test": 3}
    assert (planned.scores.num_only, planned.scores.num_retrained) == (1, 1)
    assert planned.spent_hours == pytest.approx(5 * 320 / 3600)


def test_rates_are_those_of_complete_cells_of_these_encoders(study_dir, tmp_path):
    _, rates = history(study_dir, tmp_path)
    assert rates.source == "2 cells of little"
    # One cell scored 800 sentences in the 6 s that the other did not take, four times as many in training.
    assert {(time.seconds, time.work) for time in rates.scored} == {(6.0, 800.0)}
    assert {(time.seconds, time.work) for time in rates.timed} == {(313.0 - 4 * 6.0, 48 * 60)}
    assert rates.overhead == (("inline", 7.0),)
    assert history(study_dir, tmp_path, ("minilm",))[1] == Throughput()


def test_a_second_attempt_tells_nothing_about_what_is_beside(study_dir, tmp_path):
    edit(study_dir, "UPDATE attempt SET outcome = 'lost' WHERE cell LIKE '0000%'")
    edit(
        study_dir,
        "INSERT INTO attempt SELECT cell, 2, executor, workers, threads, started, ended, 'complete', ''"
        " FROM attempt WHERE cell LIKE '0000%'",
    )
    _, rates = history(study_dir, tmp_path)
    assert {time.seconds / time.work for time in rates.timed} == {313.0 / FIVE}
    assert rates.scored == ()
    assert rates.overhead == (("inline", 7.0),)


def test_other_studies_of_the_store_tell_rates_and_a_damaged_one_only_refuses_its_own(study_dir, tmp_path):
    (study_dir.parent / "broken").mkdir()
    ledger_path(study_dir.parent / "broken").write_text("no database")
    assert history(study_dir, tmp_path)[1].source == "2 cells of little"
    with pytest.raises(InputError, match="broken"):
        history(study_dir.parent / "broken", tmp_path)
    shutil.copytree(study_dir, study_dir.parent / "other")
    known, rates = history(study_dir.parent / "new", tmp_path)
    assert known.cells == ()
    assert rates.source == "2 cells of little, 2 cells of other"


def test_the_last_cells_of_a_setting_tell_how_busy_the_machine_is(study_dir, tmp_path, monkeypatch):
    monkeypatch.setattr("rse_study.study.planning.history.LAST", 1)
    edit(study_dir, "DELETE FROM evaluation")
    edit(
        study_dir,
        "UPDATE cell SET duration_s = 100.0, ended = '2027-01-01T00:00:00+00:00' WHERE identity LIKE '0001%'",
    )
    assert [time.seconds for time in history(study_dir, tmp_path)[1].timed] == [100.0]


def test_cells_that_another_study_has_run_alike_are_taken(grid, study_dir, tmp_path, content):
    def planned(**changes):
        other = grid_of(content, {"axes": {"rho": [0, 0.5, 1]}}, name="other", seeds=[0, 1], **changes)
        sizes = DataSizes(tmp_path)
        state, rates = history_of(tmp_path / "new", study_dir.parent, sizes, ("tiny",), other.study)
        return plan(other, state, rates, sizes)

    (stage,) = planned(keep_models="none", evaluations=[]).stages
    assert (stage.num_done, stage.num_to_run) == (2, 4)
    found = planned(evaluations=["builtin/test"])
    assert (found.stages[0].num_done, found.scores.missing) == (1, {"builtin/test": 5})
    assert "1 finished cells will be copied from little" in " ".join(found.notes)
    alone = {"keep_models": "none", "evaluations": []}
    for changes in (
        {"storage": str(tmp_path)},
        {"resources": {"threads": 2}},
        {"evaluations": ["STS-B/test"]},
    ):
        assert planned(**(alone | changes)).stages[0].num_done == 0, changes


def test_configurations_of_other_versions_are_left_out(study_dir, tmp_path):
    edit(
        study_dir, "UPDATE cell SET config = json_set(config, '$.method.name', 'unheard_of') WHERE trial = 0"
    )
    known, rates = history(study_dir, tmp_path)
    assert {cell.number for cell in known.cells} == {1, 2}
    assert rates == Throughput()


def test_cells_of_a_gpu_tell_its_name_and_their_share_of_it(study_dir, tmp_path):
    assert {(time.setting.gpus, time.setting.card) for time in history(study_dir, tmp_path)[1].timed} == {
        (0, "")
    }
    with Ledger.open(study_dir) as ledger:
        ledger.add_provenance({"gpus": 0.25})
    edit(study_dir, """UPDATE cell SET provenance = '{"device_type": "cuda", "device": "Tesla T4"}'""")
    timed = history(study_dir, tmp_path)[1].timed
    assert {(time.setting.gpus, time.setting.card) for time in timed} == {(0.25, "Tesla T4")}


def test_cells_measured_alone_stay_so_when_a_later_run_shares_gpus(study_dir, tmp_path):
    """Seed 0 of the first row ran at midnight, seed 1 an hour later with a fifth of a GPU."""
    with Ledger.open(study_dir) as ledger:
        ledger.add_provenance({"gpus": 1})
        ledger.add_provenance({"gpus": 0.2})
    edit(study_dir, "UPDATE provenance SET at = '2025-12-31T23:59:59+00:00' WHERE run = 1")
    edit(study_dir, "UPDATE provenance SET at = '2026-01-01T00:59:59+00:00' WHERE run = 2")
    edit(study_dir, """UPDATE cell SET provenance = '{"device_type": "cuda", "device": "H200"}'""")
    known, rates = history(study_dir, tmp_path)
    assert {time.setting.gpus for time in rates.timed} == {1}
    assert known.device_seconds == 5 * 320
    edit(
        study_dir,
        "UPDATE attempt SET started = '2026-01-01T01:00:00+00:00', ended = '2026-01-01T01:05:20+00:00'"
        " WHERE cell LIKE '0001%'",
    )
    known, rates = history(study_dir, tmp_path)
    assert sorted(time.setting.gpus for time in rates.timed) == [0.2, 1]
    assert known.device_seconds == pytest.approx((4 + 0.2) * 320)
