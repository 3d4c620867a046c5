"""A place of each tracker's own, without network or keys."""

import os
import shutil

import pytest

from tests.trackers.backends import BACKENDS, copy_once


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory):
    """An SQLite store of MLflow's: its tables take seconds to make."""
    from rse_study.trackers.mlflow import MlflowTracker

    file = tmp_path_factory.mktemp("mlflow") / "empty.db"
    MlflowTracker(f"sqlite:///{file}")
    return file


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """Nobody's tracker, and no home with a key in it."""
    for name in [*os.environ]:
        if name.startswith(("WANDB_", "MLFLOW_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=[*BACKENDS])
def backend(request):
    return BACKENDS[request.param]


@pytest.fixture
def place(backend, request, tmp_path):
    """Where that tracker's content goes."""
    if backend is not BACKENDS["mlflow"]:
        return str(tmp_path / "tracked")
    shutil.copy(request.getfixturevalue("empty_store"), tmp_path / "mlflow.db")
    return f"sqlite:///{tmp_path}/mlflow.db"


@pytest.fixture
def copy(backend, place):
    """Copy a study once, with a tracker that is opened and closed for it."""
    return lambda folder: copy_once(backend, folder, place)
