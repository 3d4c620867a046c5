"""What Ray's own launcher says of a cluster, by its real program: no head, or nobody knows."""

from pathlib import Path

import pytest

from rse_study.cluster.launcher_backend import LauncherBackend
from rse_study.errors import InputError
from tests.cluster.golden_files import FOLDER
from tests.cluster.samples import shipped


@pytest.fixture
def backend(tmp_path: Path, monkeypatch) -> LauncherBackend:
    monkeypatch.setenv("HOME", str(tmp_path))
    return LauncherBackend(tmp_path / "home", shipped("onprem"))


def test_a_cluster_that_was_never_started_has_no_jobs(backend: LauncherBackend):
    assert backend.jobs() == []


def test_a_cluster_without_a_head_has_no_jobs(backend: LauncherBackend):
    text = (FOLDER / "onprem" / "cluster.yaml").read_text(encoding="utf-8")
    write(backend, text.replace("cluster_name: onprem", f"cluster_name: onprem-{backend.home.parent.name}"))
    assert backend.jobs() == []


def test_a_program_that_fails_does_not_mean_that_there_is_no_head(backend: LauncherBackend):
    write(backend, "cluster_name: onprem\nprovider: {type: unheard-of}\n")
    with pytest.raises(InputError, match=r"onprem: its state is unknown: .*unheard-of"):
        backend.jobs()


def write(backend: LauncherBackend, text: str) -> None:
    backend.configuration.parent.mkdir(parents=True)
    backend.configuration.write_text(text, encoding="utf-8")
