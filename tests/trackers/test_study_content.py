"""What of a ledger is copied: cells that have begun, with values, states and times."""

import math

import pytest

from rse_study.results.files.ledger import Ledger
from rse_study.trackers.study_content import read_study
from tests.analysis import gridded
from tests.results.world import result_of
from tests.trackers.small_study import RUNNING, begin, made


@pytest.fixture
def study(tmp_path):
    return read_study(made(tmp_path / "halving", begin))


def test_a_study_says_what_it_is_with_values_reasons_and_scores_of_what_has_begun(study):
    assert (study.name, study.question, study.kind) == ("halving", "Does rho matter?", "search")
    assert (study.objective, study.direction, study.revision, study.code) == ("dev", "maximize", 1, "abc123")
    assert study.resolved == {"name": "halving"}
    assert [trial.name for trial in study.trials] == ["base", "trial 1", "trial 2", "trial 3", "trial 4"]
    assert [dict(trial.params) for trial in study.trials[:2]] == [{"rho": 0.0}, {"rho": 0.1}]
    assert dict(study.trials[1].cells[0].params) == {"rho": 0.1, "seed": 0}
    assert [trial.cells[0].reason for trial in study.trials] == [
        "",
        "step 11: the loss is not finite",
        "stopped at step 10 of 40",
        "",
        "worker killed by signal 9",
    ]
    (cell,) = study.trials[3].cells
    (point,) = cell.points
    assert math.isnan(point.values["dev"])
    assert (point.values["loss"], point.values["delta/norm"]) == (math.inf, -math.inf)
    assert dict(study.trials[0].cells[0].scores) == {"pairs/test/all": 61.5, "seconds": 2.5}


def test_states_say_who_is_taken_up_again(tmp_path):
    folder = tmp_path / "halving"
    with Ledger.open(folder) as ledger:
        begin(ledger)
        held = [trial.state for trial in read_study(folder).trials]
    left = [trial.state for trial in read_study(folder).trials]
    assert held == ["complete", "failed", "stopped_early", "running", "interrupted"]
    assert left == ["complete", "failed", "stopped_early", "interrupted", "interrupted"]


def test_a_digest_changes_with_a_number_and_not_with_the_time_of_looking(tmp_path):
    folder = tmp_path / "halving"
    with Ledger.open(folder) as ledger:
        begin(ledger)
        before = digests(folder)
        ledger.log("note", "the ledger was written")
        assert digests(folder) == before
        ledger.record_progress(RUNNING.identity, 20, {"dev": 1.0})
        after = digests(folder)
    assert {identity for identity in before if before[identity] != after[identity]} == {RUNNING.identity}


def digests(folder):
    return {cell.identity: cell.digest for trial in read_study(folder).trials for cell in trial.cells}


def test_a_cell_that_another_study_ran_has_its_time_before_its_end(tmp_path):
    def take(ledger):
        begin(ledger)
        ledger.record_result(result_of(RUNNING, [1.0]))

    folder = made(tmp_path / "halving", take)
    with Ledger.open(folder) as ledger:
        ledger._db.execute("DELETE FROM attempt WHERE cell = ?", (RUNNING.identity,))
        ledger._db.commit()
    (cell,) = read_study(folder).trials[3].cells
    assert cell.ended - cell.started == pytest.approx(2.5)


def test_rows_of_a_grid_go_by_their_names_and_have_all_their_seeds(tmp_path):
    with Ledger.open(tmp_path / "parts") as ledger:
        gridded.grid(ledger)
    study = read_study(tmp_path / "parts")
    by_name = {trial.name: trial for trial in study.trials}
    expected = [f"without PGD seed {seed}" for seed in range(3)]
    assert [cell.name for cell in by_name["without PGD"].cells] == expected
    assert "without the blend" not in by_name  # retired
    assert by_name["without the token level"].state == "failed"
