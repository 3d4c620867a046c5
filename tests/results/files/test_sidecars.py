import pytest

from rse_study.results.files.cell_file import read_cell
from rse_study.results.files.evaluation_file import read_evaluations
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.schema import baselines_folder, cell_folder
from rse_study.results.files.study_file import read_revisions
from rse_study.results.records import EvaluationRow
from tests.results.world import HERE, result_of, score_of


@pytest.fixture
def ledger(study_dir):
    with Ledger.open(study_dir) as ledger:
        yield ledger


def check_cells(ledger):
    for cell in ledger.cells():
        assert read_cell(cell_folder(ledger.study_dir, cell.identity)) == cell


def test_the_files_follow_the_ledger(ledger, study, cells):
    check_cells(ledger)
    ledger.start(cells[0].identity, **HERE)
    ledger.record_result(result_of(cells[0], [1.0], status="stopped_early", reason="stopped at step 10"))
    check_cells(ledger)
    ledger.fail(cells[1].identity, "killed three times")
    check_cells(ledger)
    ledger.retire_others({cells[1].identity}, "search")
    check_cells(ledger)
    ledger.plan(cells)
    check_cells(ledger)
    ledger.freeze(study.model_copy(update={"num_trials": 3}), "num_trials: 2 -> 3")
    assert read_revisions(ledger.study_dir) == ledger.revisions()
    assert len(ledger.revisions()) == 2


def test_files_that_were_lost_or_damaged_are_written_again(ledger, study):
    path = ledger.study_dir / "study.json"
    for spoil in (path.unlink, lambda: path.write_text("{")):
        spoil()
        ledger.freeze(study)
        assert read_revisions(ledger.study_dir) == ledger.revisions()


def test_scores_lie_with_their_cell_or_with_the_baselines(ledger, cells):
    rows = [score_of(cells[0].identity, 1.0), score_of("start", 2.0), score_of("untrained", 3.0)]
    ledger.record_evaluations(rows)
    assert read_evaluations(cell_folder(ledger.study_dir, cells[0].identity)) == rows[:1]
    assert read_evaluations(baselines_folder(ledger.study_dir)) == rows[1:]


def test_damaged_scores_are_all_written_again(ledger, cells):
    own = cells[0].identity
    ledger.record_evaluations([score_of(own, 1.0)])
    path = cell_folder(ledger.study_dir, own) / "evaluations.json"
    path.write_text("{")
    ledger.record_evaluations([score_of(own, 2.0, "dev")])
    both = [score_of(own, 2.0, "dev"), score_of(own, 1.0)]
    assert read_evaluations(path.parent) == ledger.evaluations() == both


def test_of_an_evaluation_by_other_settings_no_row_stays_in_ledger_or_file(study_dir):
    """Other settings may have other rows: of the old ones none may pass for a whole evaluation when they come back."""

    def rows(fingerprint, *names):
        about = {"subject": "start", "task": "AdvSTS-B", "split": "test", "preset": "pwws", "num_examples": 9}
        return [EvaluationRow(**about, aggregation=n, value=1.0, fingerprint=fingerprint) for n in names]

    other = EvaluationRow(
        subject="start", task="AdvSTS-B", split="test", preset="bae", value=2.0, num_examples=9
    )
    with Ledger.open(study_dir) as ledger:
        ledger.record_evaluations([other, *rows("a", "drift", "queries", "success_rate")])
        ledger.record_evaluations(rows("b", "drift", "queries"))
        found = {(row.preset, row.aggregation, row.fingerprint) for row in ledger.evaluations()}
        assert found == {("bae", "all", ""), ("pwws", "drift", "b"), ("pwws", "queries", "b")}
        in_file = {
            (row.preset, row.aggregation, row.fingerprint)
            for row in read_evaluations(baselines_folder(study_dir))
        }
    assert in_file == found
