"""MLflow, by its own client: what a study, a trial and a cell are there."""

import json
import math
import os
import shutil
import sys
from dataclasses import replace

import pytest

from rse_study.errors import InputError, Unavailable
from rse_study.trackers.copier import StudyCopier
from rse_study.trackers.mlflow import MlflowTracker
from rse_study.trackers.study_content import read_study
from tests.slow import mostly_slow
from tests.trackers.backends import MlflowBackend
from tests.trackers.small_study import COMPLETE, FAILED, RUNNING, begin, made
from tests.trackers.test_trackers import require_equal

pytestmark = pytest.mark.xdist_group("trackers")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return made(tmp_path_factory.mktemp("studies") / "halving", begin)


@pytest.fixture(scope="module")
def uri(folder, empty_store, tmp_path_factory):
    """A store with that study: for reading only."""
    file = shutil.copy(empty_store, tmp_path_factory.mktemp("mlflow") / "mlflow.db")
    StudyCopier(MlflowTracker(f"sqlite:///{file}")).copy(read_study(folder))
    return f"sqlite:///{file}"


@pytest.fixture
def client(uri):
    from mlflow import MlflowClient

    return MlflowClient(tracking_uri=uri)


@pytest.fixture
def experiment(client):
    return client.get_experiment_by_name("halving")


@pytest.fixture
def run_of(client, experiment):
    def find(cell):
        tag = f"tags.`rse_study.cell` = '{cell.identity}'"
        (run,) = client.search_runs([experiment.experiment_id], filter_string=tag)
        return run

    return find


def test_a_cell_is_nested_in_its_trial_with_its_values_and_final_metrics(client, run_of, experiment):
    cell = run_of(FAILED)
    parent = client.get_run(cell.data.tags["mlflow.parentRunId"])
    expected = ("trial 1", {"rho": "0.1"}, "FAILED")
    assert (parent.info.run_name, parent.data.params, parent.info.status) == expected
    assert (cell.info.run_name, cell.data.params) == ("trial 1 seed 0", {"rho": "0.1", "seed": "0"})
    assert cell.data.tags["rse_study.reason"] == "step 11: the loss is not finite"
    assert cell.data.tags["mlflow.source.git.commit"] == "abc123"
    assert json.loads(cell.data.tags["rse_study.config"]) == {"blend": {"rho": 0.1}}
    assert run_of(COMPLETE).data.metrics["pairs/test/all"] == 61.5
    assert run_of(COMPLETE).data.metrics["seconds"] == 2.5
    run_id = run_of(RUNNING).info.run_id
    values = {
        name: client.get_metric_history(run_id, name)[0].value for name in ("dev", "loss", "delta/norm")
    }
    assert math.isnan(values["dev"])
    assert (values["loss"], values["delta/norm"]) == (sys.float_info.max, -sys.float_info.max)
    tags = experiment.tags
    assert tags["mlflow.note.content"].startswith("Does rho matter?\n\nsearch, maximize dev, revision 1")
    assert (tags["rse_study.revision"], tags["rse_study.code"]) == ("1", "abc123")
    assert json.loads(tags["rse_study.resolved"]) == {"name": "halving"}


def test_names_that_mlflow_refuses_are_changed_and_stay_apart(uri):
    tracker = MlflowTracker(uri)
    names = [
        tracker.metric_name(name)
        for name in ("STS-B/test/all", "MR, fast/all", "MR; fast/all", "/a//b", "λ₁")
    ]
    from mlflow.entities import Metric

    assert names[0] == "STS-B/test/all"
    assert len(set(names)) == 5
    experiment = tracker._client.create_experiment("names")
    run = tracker._client.create_run(experiment)
    tracker._client.log_batch(run.info.run_id, metrics=[Metric(name, 1.0, 0, 0) for name in names])
    assert set(tracker._client.get_run(run.info.run_id).data.metrics) == set(names)


def test_a_long_configuration_is_cut_into_tags_and_a_deleted_experiment_not_filled(
    tmp_path, empty_store, folder
):
    study = replace(read_study(folder), resolved={"corpus": "x" * 12000})
    tracker = MlflowTracker(f"sqlite:///{shutil.copy(empty_store, tmp_path / 'x.db')}")
    tracker.begin_study(study)
    experiment = tracker._client.get_experiment_by_name("halving")
    pieces = [experiment.tags[f"rse_study.resolved{part}"] for part in ("", ".2", ".3")]
    assert json.loads("".join(pieces)) == study.resolved
    tracker._client.delete_experiment(experiment.experiment_id)
    with pytest.raises(InputError, match=r"experiment halving: is deleted\. Restore it"):
        tracker.begin_study(study)


@pytest.mark.parametrize("uri", mostly_slow(["nonsense://x", "http://127.0.0.1:9"], fast=["nonsense://x"]))
def test_a_store_that_is_not_there_is_refused(uri):
    with pytest.raises(InputError, match=f"--uri {uri}: .*Name a store that is there"):
        MlflowTracker(uri)


def test_a_store_that_is_lost_meanwhile_ends_it_and_says_so(uri, folder):
    tracker = MlflowTracker(uri)
    study = read_study(folder)
    tracker.begin_study(study)
    (trial, *_) = study.trials
    tracker.begin_trial(trial)
    tracker._cells[trial.cells[0].identity].info._run_id = "lost"
    with pytest.raises(Unavailable, match="Give the command again"):
        tracker.add_points(trial.cells[0], trial.cells[0].points)


def test_nothing_is_reported_home(monkeypatch, uri):
    from mlflow.telemetry.utils import is_telemetry_disabled

    monkeypatch.delenv("MLFLOW_DISABLE_TELEMETRY")  # which the tests' fixture has set
    MlflowTracker(uri)
    assert os.environ["MLFLOW_DISABLE_TELEMETRY"] == "true"
    assert is_telemetry_disabled()


def test_the_file_store_holds_the_same(monkeypatch, tmp_path, folder):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    place = str(tmp_path / "mlruns")
    for _ in range(2):
        StudyCopier(MlflowTracker(place)).copy(read_study(folder))

    class FileBackend(MlflowBackend):
        stored = staticmethod(float)

    require_equal(folder, FileBackend, place)
