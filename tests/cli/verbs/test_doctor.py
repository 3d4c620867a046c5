"""`doctor`: what is missing; with --rebuild, a ledger again, from what lies beside it."""

import pytest

from rse_study.results.files.ledger import Ledger
from rse_study.results.files.schema import cell_folder, ledger_path
from tests.cli.a_study import SEARCH, cell_of, run


@pytest.fixture
def study_dir(tmp_path):
    folder = tmp_path / "studies" / "little"
    with Ledger.open(folder) as ledger:
        ledger.freeze(SEARCH)
        for trial, dev in enumerate((50.0, 60.0)):
            run(ledger, cell_of(trial), dev)
    return folder


def test_the_doctor_says_what_is_missing(rse):
    ended = rse("doctor")
    assert ended.code == 0
    assert "data folder" in ended.out
    assert "a cell of BERT-base takes 5.3 GB while it runs" in ended.out
    assert "is not there; set RSE_STUDY_DATA" in ended.out


def test_a_ledger_that_is_gone_is_made_again(rse, study_dir):
    ledger_path(study_dir).unlink()
    ended = rse("doctor", "--rebuild", "little")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == "studies/little: 2 cells, 2 results, 0 scores found\n"
    assert ledger_path(study_dir).is_file()


def test_what_was_damaged_is_said(rse, study_dir):
    result = cell_folder(study_dir, cell_of(1).identity) / "result.json"
    result.write_text(result.read_text().replace("60.0", "99.0"))
    ended = rse("doctor", "--rebuild", str(study_dir))
    assert ended.code == 3
    assert "2 cells, 1 results" in ended.out
    assert "damaged: " in ended.out
    assert "result.json" in ended.out


def test_a_study_that_runs_is_left_alone(rse, study_dir):
    with Ledger.open(study_dir) as ledger:
        before = ledger_path(study_dir).read_bytes()
        ended = rse("doctor", "--rebuild", "little")
        assert ended.code == 2
        assert "held by process" in ended.err
        assert ledger_path(study_dir).read_bytes() == before
        run(ledger, cell_of(2), 70.0)


@pytest.mark.parametrize("study", ["nothing", "joint", "."])
def test_where_nothing_is_nothing_can_be_rebuilt(rse, study):
    ended = rse("doctor", "--rebuild", study)
    assert ended.code == 2
    assert "has run" in ended.err
