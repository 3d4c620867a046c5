"""`run`: what it hands over, and how it ends where trials failed or cost too much."""

import os
import pty
import sys
from contextlib import suppress

import pytest

from analysis.comparison_table import NOT_AGAIN
from rse_study.cli.terminal import errors
from rse_study.cli.verbs.run import conclude
from rse_study.on_ray.queue import StudyCallback
from rse_study.results.files.ledger import Ledger
from rse_study.results.reader import Reader
from rse_study.study.planning import footprint
from tests.cli.a_study import cell_of, run
from tests.on_ray.world import make_materials
from tests.study import a_grid


def test_a_study_with_a_failed_trial_is_incomplete(ran, capsys):
    assert conclude(Reader(ran)) == errors.INCOMPLETE
    told = "1 of 2 cells are not complete, 1 of them failed. trial 1: step 3: the loss is not finite. "
    assert capsys.readouterr().err == f"{told}{NOT_AGAIN}\n"


def test_run_hands_over_what_a_study_needs_and_ends_with_3_where_a_trial_failed(rse, ran, monkeypatch):
    def pretend(checked, folder, prepare, read, watcher, *, num_cpus, address, track, **others):
        assert (checked.study.num_trials, folder.resolve(), num_cpus, address) == (2, ran, 1, "")
        assert (track, others["max_hours"]) == ("wandb", None)
        assert read("builtin/test").name == "builtin/test"
        assert isinstance(watcher, StudyCallback)
        watcher.message("search: 1 of 2 cells to run")

    monkeypatch.setattr("rse_study.on_ray.driver.run_study", pretend)
    ended = rse("run", "joint", "-o", "name=little", "-o", "num_trials=2", "--cpus", "1", "--track", "wandb")
    assert ended.code == errors.INCOMPLETE
    assert "note: wandb gets the cells that run now; docs/trackers.md logs those that have ended" in ended.out
    assert "1 of 2 cells are not complete" in ended.err
    assert "search: 1 of 2 cells to run" in ended.out
    assert "report: " in ended.out


def test_a_study_that_costs_too_much_is_not_begun(rse, ran):
    ended = rse("run", "quickstart", "-o", "allowance.hours_per_cell=[2, 4]", "--max-hours", "2.5")
    assert ended.code == 4
    assert ended.err.startswith("over budget: quickstart: ") and ended.err.endswith(", max_hours = 2.5\n")
    with Ledger.open(ran.parent / "quickstart") as ledger:
        assert ledger.study() is None


def test_a_search_gets_its_limit_as_its_budget(rse, monkeypatch):
    begun = []
    monkeypatch.setattr(
        "rse_study.on_ray.driver.run_study", lambda checked, *given, **named: begun.append(checked.study)
    )
    for hours in ("2.5", "0"):
        rse("run", "joint", "--max-hours", hours)
    limited, unlimited = begun
    assert limited.search_budget.device_hours == 2.5
    assert unlimited.search_budget is None
    refused = rse("run", "joint", "-o", "search_budget=5", "--max-hours", "1")
    assert (refused.code, len(begun)) == (2, 2)
    assert "search_budget = 5: must be a mapping" in refused.err


def test_a_study_that_asks_for_a_gpu_is_refused_at_once_where_there_is_none(rse, monkeypatch):
    monkeypatch.setattr(footprint, "num_gpus", lambda: 0)
    ended = rse("run", "quickstart", "-o", "resources.gpus=1")
    assert ended.code == 2
    assert "resources.gpus = 1: this machine has no GPU. Run it where there is one" in ended.err
    assert "this machine has no GPU" in rse("plan", "quickstart", "-o", "resources.gpus=1").err
    assert "this machine has no GPU" in rse("validate", "quickstart", "-o", "resources.gpus=1").out


def test_a_study_whose_trials_are_complete_is_well(ran, capsys):
    with Ledger.open(ran) as ledger:
        run(ledger, cell_of(1), 51.0)
    assert conclude(Reader(ran)) == errors.OK
    assert capsys.readouterr().err == ""


def test_a_second_file_of_the_name_is_asked_about_before_anything_starts(rse, tmp_path, monkeypatch):
    a_grid.run(a_grid.write(tmp_path / "a.yaml"), tmp_path / "studies" / "mine", make_materials(tmp_path))
    a_grid.write(tmp_path / "q.yaml", ("Does rho", "Does any rho"))
    refused = rse("run", "q.yaml")
    assert refused.code == 2
    assert f"another file, {tmp_path / 'a.yaml'}; its question was 'Does rho matter?'" in refused.err
    assert "its question was" in rse("plan", "q.yaml").out
    consents = []
    monkeypatch.setattr(
        "rse_study.on_ray.driver.run_study", lambda *given, **named: consents.append(named["consents"])
    )
    rse("run", "q.yaml", "--revise")
    assert consents[0](None)


@pytest.mark.parametrize("store", ["s3://bucket/studies", "gs://bucket", "file:///tmp/studies"])
def test_a_store_that_is_a_url_is_refused_and_makes_no_folder(rse, tmp_path, store):
    ended = rse("run", "quickstart", "--store", store)
    assert ended.code == 2 and "is a URL: a folder of this machine is needed. `storage:`" in ended.err
    assert list(tmp_path.iterdir()) == []


def test_whoever_is_asked_about_a_revision_may_refuse_it(tmp_path):
    a_grid.run(a_grid.write(tmp_path / "a.yaml"), tmp_path / "studies" / "mine", make_materials(tmp_path))
    a_grid.write(tmp_path / "q.yaml", ("Does rho", "Does any rho"))
    process, terminal = pty.fork()
    if not process:
        os.chdir(tmp_path)
        os.execv(sys.executable, [sys.executable, "-m", "rse_study", "run", "q.yaml"])
    os.write(terminal, b"n\n")  # which the terminal keeps until it is asked for
    said = b""
    with suppress(OSError):  # of a terminal whose process has ended
        while part := os.read(terminal, 4096):
            said += part
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 2
    assert b" ".join(said.split()).count(b"another file") == 1
    assert b"Revise it?" in said
