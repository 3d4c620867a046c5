"""How verbs end over what lies in their folders: outputs that cannot be written, studies with failed trials."""

import pytest

from rse_study.cli import border
from rse_study.cli.search_here import conclude
from rse_study.models.stored import StoredPooling, store_pooling
from rse_study.results.ledger import Ledger
from rse_study.results.records import CellRecord, Objective, StudyRecord
from rse_study.results.result_file import Point, Result


@pytest.fixture
def ran(tmp_path):
    """A study of two trials that has run: one complete, one failed."""
    study = StudyRecord(name="little", question="?", objective=Objective(metric="dev"), num_trials=2)
    cells = [CellRecord(identity=str(i) * 64, trial=i, seed=0, config={}) for i in range(2)]
    with Ledger.open(tmp_path / "studies" / "little") as ledger:
        ledger.freeze(study)
        ledger.plan(cells)
        point = Point(t=1, metrics={"dev": 50.0})
        ledger.record_result(Result(identity=cells[0].identity, seed=0, config={}, history=(point,)))
        ledger.fail(cells[1].identity, "step 3: the loss is not finite")
    return tmp_path / "studies" / "little"


@pytest.mark.parametrize(
    ("out", "said"),
    [("folder", "is a folder: a file is written here"), ("file/report.html", "file is no folder")],
)
def test_a_report_that_cannot_be_written_is_refused(rse, ran, tmp_path, out, said):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    ended = rse("report", "little", "--out", out)
    assert ended.code == 2
    assert ended.err.startswith(f"--out {out if out == 'folder' else 'file'}: ")
    assert said in ended.err


@pytest.mark.parametrize("directory", ["file", "file/x"])
def test_an_export_that_cannot_be_written_is_refused(rse, models_folder, tmp_path, directory):
    (tmp_path / "cell").mkdir()
    (tmp_path / "cell" / "model").symlink_to(models_folder / "encoder")
    (tmp_path / "file").write_text("")
    ended = rse("export", "cell", directory)
    assert ended.code == 2
    assert f"DIR {directory}: " in ended.err
    assert "Name another folder" in ended.err


def test_prompt_pooling_needs_a_stored_template(rse, models_folder, tmp_path):
    folder = tmp_path / "data" / "sts" / "STSBenchmark" / "orig"
    folder.mkdir(parents=True)
    rows = ["g\tf\ty\t0\t4.2\tone\ttwo\n", "g\tf\ty\t0\t1.0\ta\tb\n"]
    (folder / "sts-dev.csv").write_text("".join(rows))
    (tmp_path / "prompted").mkdir()
    for file in (models_folder / "encoder").iterdir():
        (tmp_path / "prompted" / file.name).symlink_to(file)
    arguments = ["evaluate", "prompted", "--pooling", "prompt", "--data", "data"]
    ended = rse(*arguments)
    assert ended.code == 2
    assert "prompted: pooling 'prompt'" in ended.err
    assert "no template is stored" in ended.err
    assert "Use cls" in ended.err
    stored = StoredPooling(pooling="prompt", template='This sentence of "[X]" means [MASK].')
    store_pooling(tmp_path / "prompted", stored)
    assert rse(*arguments).code == 0


def test_a_study_with_a_failed_trial_is_incomplete(ran, capsys):
    assert conclude(ran) == border.INCOMPLETE
    told = "1 of 2 trials are not complete, 1 of them failed. Trial 1: step 3: the loss is not finite\n"
    assert capsys.readouterr().err == told


def test_run_ends_with_3_where_a_trial_failed(rse, ran, monkeypatch):
    monkeypatch.setattr("rse_study.cli.search_here.run_study", lambda *arguments, **settings: ran)
    ended = rse("run", "quickstart", "-o", "name=little", "-o", "num_trials=2")
    assert ended.code == border.INCOMPLETE
    assert "1 of 2 trials are not complete" in ended.err
    assert "report: " in ended.out


def test_a_study_whose_trials_are_complete_is_well(ran, capsys):
    with Ledger.open(ran) as ledger:
        point = Point(t=1, metrics={"dev": 51.0})
        ledger.record_result(Result(identity="1" * 64, seed=0, config={}, history=(point,)))
    assert conclude(ran) == border.OK
    assert capsys.readouterr().err == ""
