"""`track`: a study's ledger in TensorBoard's files, once and while it runs; whoever is killed begins again."""

import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from rse_study.cli.verbs import track
from rse_study.results.files.ledger import Ledger
from rse_study.trackers import TRACKERS
from tests.cli.a_study import SEARCH, cell_of, finish, run, start
from tests.slow import mostly_slow
from tests.trackers.backends import BACKENDS
from tests.trackers.test_trackers import require_equal

pytestmark = pytest.mark.xdist_group("trackers")
COMMAND = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from rse_study.cli.app import app
app({arguments})
"""


@pytest.fixture
def folder(tmp_path):
    """Three trials of two points each."""
    folder = tmp_path / "studies" / "little"
    with Ledger.open(folder) as ledger:
        ledger.freeze(SEARCH)
        for trial in range(3):
            run(ledger, cell_of(trial), 50.0 + trial)
    return folder


@pytest.fixture
def offline(monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")


def called(tmp_path, *arguments):
    """The command in a process of its own."""
    code = COMMAND.format(arguments=["track", *arguments])
    return subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_a_study_is_copied_left_as_it_is_and_what_shows_it_is_said(rse, folder, tmp_path):
    files = {path: path.read_bytes() for path in folder.rglob("*") if path.suffix in (".sqlite", ".json")}
    ended = rse("track", "little", "--to", "tensorboard", "--dir", "tb")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == "little: cells new or changed: 3; numbers added: 12\n"
    assert ended.next == "tensorboard --logdir tb"
    require_equal(folder, BACKENDS["tensorboard"], tmp_path / "tb")
    assert rse("track", "little", "--to", "tensorboard", "--dir", "tb").out == "little: nothing is new\n"
    assert {path: path.read_bytes() for path in files} == files


def test_a_tracker_that_is_none_is_refused(rse, folder):
    ended = rse("track", "little", "--to", "tensorbord")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "--to: no such tracker 'tensorbord'. Did you mean 'tensorboard'?\n"


def test_live_ends_at_once_where_nobody_runs_the_study(rse, folder):
    ended = rse("track", "little", "--to", "tensorboard", "--live")
    assert ended.code == 0
    assert ended.out.splitlines()[-1] == "little: cells new or changed: 3; numbers added: 12"


def test_live_follows_a_ledger_that_is_written_to_its_end(rse, tmp_path, monkeypatch):
    monkeypatch.setattr(track, "LOOK_SECONDS", 0.02)
    folder, begun = tmp_path / "studies" / "little", threading.Event()

    def numbers():
        return sum(copy.numbers.total() for copy in BACKENDS["tensorboard"].read(tmp_path / "tb").values())

    seen = []

    def run_study():
        with Ledger.open(folder) as ledger:
            ledger.freeze(SEARCH)
            cell = start(ledger, cell_of(0))
            begun.set()
            for t in (0, 30):
                ledger.record_progress(cell.identity, t, {"dev": 10.0})
                seen.append(wait_for(lambda t=t: numbers() == len(seen) + 1))
            finish(ledger, cell, 50.0)

    runner = threading.Thread(target=run_study)
    runner.start()
    begun.wait(60)
    ended = rse("track", "little", "--to", "tensorboard", "--dir", "tb", "--live")
    runner.join()
    assert (ended.code, seen) == (0, [True, True])
    require_equal(folder, BACKENDS["tensorboard"], tmp_path / "tb")


def wait_for(is_so):
    deadline = time.monotonic() + 60
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.slow
@pytest.mark.parametrize("to", ["tensorboard", "wandb"])
def test_ctrl_c_ends_live_with_130_and_what_is_there_is_whole(folder, tmp_path, to, offline):
    with Ledger.open(folder) as ledger:
        start(ledger, cell_of(3))
        ledger.record_progress(cell_of(3).identity, 0, {"dev": 10.0})
        with called(tmp_path, "little", "--to", to, "--dir", "place", "--live") as process:
            assert "cells new or changed: 4" in process.stdout.readline()
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=60)[1]
        assert process.returncode == 130
        assert said == "interrupted; the same command resumes the run\n"
        require_equal(folder, BACKENDS[to], tmp_path / "place")
    with called(tmp_path, "little", "--to", to, "--dir", "place") as process:
        process.communicate(timeout=60)
    require_equal(folder, BACKENDS[to], tmp_path / "place")


@pytest.mark.parametrize("to", mostly_slow(TRACKERS, fast=[]))
def test_killed_in_the_middle_and_given_again_is_copied_once(folder, tmp_path, to, offline):
    """kill -9 while the first cells are written, again and again, later each time."""
    place = f"sqlite:///{tmp_path}/mlflow.db" if to == "mlflow" else str(tmp_path / "place")
    arguments = ("little", "--to", to, "--dir", place)
    if to == "mlflow":  # its tables take seconds, and a kill there is its own affair
        with called(tmp_path, *arguments) as process:
            process.communicate(timeout=120)
    with Ledger.open(folder) as ledger:
        for seed in range(1, 12):
            run(ledger, cell_of(0, seed, stage="confirm"), 40.0 + seed)
    for has_come in range(1, 4):
        with called(tmp_path, *arguments) as process:
            wait_for(lambda n=has_come: num_cells(to, place) >= 3 * n or process.poll() is not None)
            process.kill()
    with called(tmp_path, *arguments) as process:
        said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    require_equal(folder, BACKENDS[to], place)


def num_cells(to, place):
    """How many cells are begun there."""
    if to == "tensorboard":
        return len(list(Path(place).glob("*/*/*/events*")))
    if to == "wandb":
        return len(list(Path(place).glob("wandb/offline-run-*/*.wandb")))
    with sqlite3.connect(place.removeprefix("sqlite:///"), timeout=30) as db:
        return db.execute("SELECT count(*) FROM tags WHERE key = 'rse_study.cell'").fetchone()[0]
