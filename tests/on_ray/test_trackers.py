"""Trackers of `run --track`, read back with their own tools: cells by name, metrics by optimiser step."""

import os
import struct
import sys

import pytest
from ray.tune.experiment import Trial
from tensorboardX.proto.event_pb2 import Event

from rse_study.errors import InputError
from rse_study.on_ray.driver import Tracker, run_study
from rse_study.results.files.ledger import Ledger
from tests.cases import cases
from tests.on_ray.listener import Listener
from tests.on_ray.world import checked_of, few, grid_of

POINT = {"t": 20, "dev": 61.5, "objective": 61.5, "loss": 0.5, "metrics": {"dev": 61.5, "loss": 0.5}}


def points_of(folder):
    """(step, value) of each metric in a folder of TensorBoard's, without repetitions."""
    found = {}
    for path in folder.glob("events*"):
        content, start = path.read_bytes(), 0
        while start < len(content):  # length and checksum, a record, its checksum
            length = struct.unpack_from("<Q", content, start)[0]
            event = Event.FromString(content[start + 12 : start + 12 + length])
            for one in event.summary.value:
                found.setdefault(one.tag.removeprefix("ray/tune/"), set()).add((event.step, one.simple_value))
            start += length + 16
    return found


def trial(number, **config):
    return Trial("cell", stub=True, trial_id=f"a1b2c{number}", config={"trial": number, "seed": 0, **config})


@cases(
    ("name", "package"), [("mlflow", "mlflow-skinny"), ("wandb", "wandb"), ("tensorboardX", "tensorboardX")]
)
def test_a_tracker_that_is_not_installed_is_refused_with_the_command_that_installs_it(
    monkeypatch, tmp_path, name, package
):
    monkeypatch.setitem(sys.modules, name, None)
    tracker = name.removesuffix("X")
    with pytest.raises(InputError) as refused:
        Tracker(tracker, tmp_path, print)
    assert str(refused.value) == f"--track {tracker}: {name} is not installed. pip install {package}"


def test_an_unknown_tracker_is_refused_with_a_similar_one(tmp_path):
    with pytest.raises(
        InputError, match=r"^--track: no such tracker 'tensorbord'\. Did you mean 'tensorboard'\?"
    ):
        Tracker("tensorbord", tmp_path, print)


def test_a_cell_has_its_name_its_settings_and_its_metrics_by_step(tmp_path):
    tracker = Tracker("tensorboard", tmp_path, print)
    of_row, of_search = trial(3, row="norm = l1/2", payload="{}"), trial(4, **{"lr (log)": 1e-5})
    for one in (of_row, of_search):
        tracker.on_trial_start(1, [], one)
        tracker.on_trial_result(2, [], one, POINT | {"training_iteration": 7})
        tracker.on_trial_result(3, [], one, POINT | {"t": 30, "scored": 1})
        tracker.on_trial_complete(4, [], one)
    first, second = sorted((tmp_path / "tensorboard").iterdir())
    assert (first.name, second.name) == ("norm = l1_2 seed 0-a1b2c3", "trial 4 seed 0-a1b2c4")
    assert points_of(first)["dev"] == points_of(first)["objective"] == {(20, 61.5), (30, 61.5)}
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("events*"))
    assert b"lr _log_" in written and b"payload" not in written


def test_a_tracker_that_fails_is_named_once_and_the_study_goes_on(tmp_path):
    said = []
    tracker = Tracker("tensorboard", tmp_path, said.append)
    (tmp_path / "tensorboard").touch()  # where its folder should be
    for one in (trial(0), trial(1)):
        tracker.on_trial_start(1, [], one)
        tracker.on_trial_result(2, [], one, POINT)
        tracker.on_trial_error(3, [], one)
    tracker.on_trial_error(4, [], trial(2))  # its process never began
    (line,) = said
    assert line.startswith("--track tensorboard: ") and line.endswith(". The study goes on without it")


@pytest.fixture
def alone(monkeypatch, tmp_path):
    """Nobody's store, and no home with a key in it."""
    for name in [*os.environ]:
        if name.startswith(("WANDB_", "MLFLOW_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow  # mlflow makes a database
def test_mlflow_has_a_run_for_each_cell_and_a_store_that_is_none_is_refused(alone, monkeypatch, tmp_path):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "nonsense://store")
    with pytest.raises(InputError, match="Set MLFLOW_TRACKING_URI to a store that answers"):
        Tracker("mlflow", tmp_path / "little", print)
    monkeypatch.delenv("MLFLOW_TRACKING_URI")
    said: list[str] = []
    tracker, cell = Tracker("mlflow", tmp_path / "little", said.append), trial(0, row="ours")
    tracker.on_trial_start(1, [], cell)
    tracker.on_trial_result(2, [], cell, POINT)
    scores = {"builtin/test/all": 70.5}
    tracker.on_trial_result(3, [], cell, POINT | {"t": 30, "scores": scores})
    tracker.on_trial_complete(4, [], cell)
    assert not said
    from mlflow import MlflowClient

    client = MlflowClient("sqlite:///mlflow.db")
    (run,) = client.search_runs([client.get_experiment_by_name("little").experiment_id])
    assert (run.info.run_name, run.info.status) == ("ours seed 0", "FINISHED")
    assert run.data.params == {"row": "ours", "seed": "0", "trial": "0"}
    assert {one.step: one.value for one in client.get_metric_history(run.info.run_id, "dev")} == {
        20: 61.5,
        30: 61.5,
    }
    assert {name: run.data.metrics[name] for name in scores} == scores
    assert run.data.metrics["objective"] == 61.5


@pytest.mark.slow
@pytest.mark.xdist_group("ray")
def test_wandb_keeps_the_runs_in_the_studys_folder_and_is_refused_without_a_key(
    alone, study_content, materials, monkeypatch, tmp_path, cluster
):
    content = grid_of(study_content, grid={"rows": {"ours": {}}}) | {"evaluations": ["builtin/test"]}
    folder, heard = tmp_path / "studies" / "little", Listener()

    def run():
        given = checked_of(content), folder, lambda trial: materials, few, heard
        run_study(*given, address=cluster, track="wandb")

    with pytest.raises(
        InputError, match=r"^--track wandb: No API key configured\. Run `wandb login`, or set"
    ):
        run()
    monkeypatch.setenv("WANDB_MODE", "offline")
    run()
    assert not [line for line in heard.heard if line.startswith("--track")]
    with Ledger.open(folder) as ledger:
        (cell,) = ledger.cells()
        scores = {row.metric: row.value for row in ledger.evaluations([cell.identity])}
        points = [row.value for row in ledger.history(cell.identity) if row.name == "dev"]
    (file,) = (folder / "wandb").glob("offline-run-*/*.wandb")
    written = file.read_bytes()
    for text in ("ours seed 0", *map(repr, points), *scores, *map(repr, scores.values())):
        assert text.encode() in written
