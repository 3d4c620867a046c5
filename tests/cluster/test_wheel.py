"""The wheel is packed from the files that run: complete, installable, the same every time."""

import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from rse_study.cluster.wheel import PACKAGES, as_tar, files_in, wheel_of_this_version
from rse_study.errors import InputError

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel():
    return wheel_of_this_version()


@pytest.fixture(scope="module")
def tar(wheel):
    return as_tar(files_in(wheel))


def files_of(wheel):
    return set(zipfile.ZipFile(BytesIO(wheel.content)).namelist())


def test_it_holds_every_file_of_the_packages(wheel):
    here = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in files_of(wheel) if ".dist-info/" not in name} == here


def test_the_build_backend_packs_the_same_files(wheel, tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    (built,) = tmp_path.glob("*.whl")
    licences = {name for name in zipfile.ZipFile(built).namelist() if "/licenses/" in name}
    assert built.name == wheel.name
    assert set(zipfile.ZipFile(built).namelist()) - licences == files_of(wheel)


def test_the_same_files_give_the_same_bytes_which_fit_into_a_configmap(wheel, tar):
    """Of 1 MiB; the study's file and the scripts beside it take a few KiB."""
    assert wheel_of_this_version().content == wheel.content
    assert as_tar(files_in(wheel)) == tar
    assert len(tar) < 2**20 - 2**14


@pytest.mark.parametrize("module", ["zipfile", "tarfile"])
def test_unpacked_it_runs(wheel, tar, tmp_path, module):
    """As the nodes of Slurm have it, and those of KubeRay."""
    (tmp_path / "packed").write_bytes(wheel.content if module == "zipfile" else tar)
    command = [sys.executable, "-m", module, "-e", "packed", "code"]
    subprocess.run(command, cwd=tmp_path, check=True)
    code = "import rse_study, clusters; print(rse_study.__file__, clusters.__file__)"
    environment = {"PYTHONPATH": str(tmp_path / "code"), "PATH": ""}
    for arguments in (["-c", code], ["-m", "rse_study", "cluster", "render", "local", "joint"]):
        run = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert str(tmp_path / "code") in run.stdout or "ray start" in run.stdout


def test_code_without_a_version_is_refused(tmp_path, monkeypatch):
    from rse_study.cluster import wheel as module

    monkeypatch.setattr(module, "DISTRIBUTION", "no-such-distribution")
    monkeypatch.setattr(module, "__file__", str(tmp_path / "rse_study" / "cluster" / "wheel.py"))
    with pytest.raises(InputError, match="no wheel can be made"):
        wheel_of_this_version()
