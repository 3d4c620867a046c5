"""The wheel is packed from the files that run: complete, installable, the same every time."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from rse_study.cluster import wheel as module
from rse_study.cluster.wheel import as_tar, wheel_of_this_version
from rse_study.errors import InputError

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel():
    return wheel_of_this_version()


@pytest.fixture(scope="module")
def tar(wheel):
    return as_tar(wheel.files)


def test_the_build_backend_packs_the_same_files(wheel, tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    (built,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(built) as files:
        names = {name for name in files.namelist() if "/licenses/" not in name}
    assert (built.name, names) == (wheel.name, set(wheel.files))


def test_the_same_files_give_the_same_bytes_which_fit_into_a_configmap(wheel, tar):
    """Of 1 MiB; the study's file and the scripts beside it take a few KiB."""
    assert wheel_of_this_version().content == wheel.content
    assert as_tar(wheel.files) == tar
    assert len(tar) < 2**20 - 2**14


@pytest.mark.parametrize("program", ["zipfile", "tarfile"])
def test_unpacked_it_runs(wheel, tar, tmp_path, program):
    """As the nodes of Slurm have it, and those of KubeRay."""
    (tmp_path / "packed").write_bytes(wheel.content if program == "zipfile" else tar)
    environment = {"PYTHONPATH": str(tmp_path / "code"), "PATH": ""}
    code = "import rse_study, clusters; print(rse_study.__file__)"

    def python(*words: str) -> str:
        how = {"cwd": tmp_path, "env": environment, "capture_output": True, "text": True}
        return subprocess.run([sys.executable, *words], **how, check=True).stdout

    python("-m", program, "-e", "packed", "code")
    assert f"{tmp_path}/code/" in python("-c", code)
    assert "ray start" in python("-m", "rse_study", "cluster", "render", "local", "joint")


def test_code_without_a_version_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "DISTRIBUTION", "no-such-distribution")
    monkeypatch.setattr(module, "__file__", str(tmp_path / "rse_study" / "cluster" / "wheel.py"))
    with pytest.raises(InputError, match="no wheel can be made"):
        wheel_of_this_version()
