"""How verbs end over what lies in their folders: outputs that cannot be written, studies with failed trials."""

import pandas as pd
import pytest

from rse_study.cli import errors
from rse_study.cli.run_here import conclude
from rse_study.errors import OverBudget
from rse_study.models.encoder_settings import StoredPooling, store_pooling
from rse_study.on_ray.callbacks import StudyCallback
from rse_study.results.ledger import Ledger
from rse_study.results.records import CellRecord, ObjectiveRecord, StudyRecord
from rse_study.results.result_file import Point, Result


@pytest.fixture
def ran(tmp_path):
    """A study of two trials that has run: one complete, one failed."""
    study = StudyRecord(
        name="little", question="?", objective=ObjectiveRecord(metric="dev"), num_trials=2, num_cells=2
    )
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


@pytest.mark.parametrize(
    ("trial", "said"),
    [
        ("best", "trial best kept no model"),
        ("0", "kept no model"),
        ("9", "no cell '9'"),
        ("0/7", "no cell '0/7'"),
    ],
)
def test_a_trial_without_a_model_cannot_be_exported(rse, ran, trial, said):
    ended = rse("export", "little", "out", "--trial", trial)
    assert ended.code == 2
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
    assert conclude(ran) == errors.INCOMPLETE
    told = "1 of 2 cells are not complete, 1 of them failed. trial 1: step 3: the loss is not finite\n"
    assert capsys.readouterr().err == told


def test_run_hands_over_what_a_study_needs_and_ends_with_3_where_a_trial_failed(rse, ran, monkeypatch):
    def pretend(checked, folder, prepare, read, watcher, *, num_cpus, address):
        assert (checked.study.num_trials, folder.resolve(), num_cpus, address) == (2, ran, 1, "")
        assert read("builtin/test").name == "builtin/test"
        assert isinstance(watcher, StudyCallback)
        watcher.told("search: 1 of 2 cells to run")

    monkeypatch.setattr("rse_study.cli.run_here.run_study", pretend)
    ended = rse("run", "quickstart", "-o", "name=little", "-o", "num_trials=2", "--cpus", "1")
    assert ended.code == errors.INCOMPLETE
    assert "1 of 2 cells are not complete" in ended.err
    assert "search: 1 of 2 cells to run" in ended.out
    assert "report: " in ended.out


def test_a_study_that_costs_too_much_is_not_begun(rse, ran, monkeypatch):
    monkeypatch.setattr(
        "rse_study.cli.run_here.run_study", lambda *everything, **settings: pytest.fail("begun")
    )

    def refuse(checked, store, max_hours, max_cost):
        assert (max_hours, max_cost) == (2.5, None)
        raise OverBudget("3 expected, max_hours = 2.5")

    monkeypatch.setattr("rse_study.cli.run_here.require_allowance", refuse)
    ended = rse("run", "quickstart", "--max-hours", "2.5")
    assert (ended.code, ended.err) == (4, "over budget: 3 expected, max_hours = 2.5\n")


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_report_brings_its_tables(rse, ran, tmp_path, kind):
    ended = rse("report", "little", "--tables", "tables", "--as", kind)
    assert (ended.code, ended.err) == (0, "")
    path = tmp_path / "tables" / f"trials.{kind}"
    frame = pd.read_csv(path) if kind == "csv" else pd.read_parquet(path)
    assert frame["status"].tolist() == ["complete", "failed"]
    assert f"tables/trials.{kind}" in ended.out.splitlines()


def test_a_study_whose_trials_are_complete_is_well(ran, capsys):
    with Ledger.open(ran) as ledger:
        point = Point(t=1, metrics={"dev": 51.0})
        ledger.start("1" * 64, executor="inline", workers=1, threads=1)
        ledger.record_result(Result(identity="1" * 64, seed=0, config={}, history=(point,)))
    assert conclude(ran) == errors.OK
    assert capsys.readouterr().err == ""
