"""What is missing on a machine is named, with the package that brings it, and counted at the end of a run."""

import subprocess
import sys
from pathlib import Path

from tests import needs

ROOT = Path(__file__).parents[1]
SKIPPING = """
import pytest

@pytest.mark.skip(reason="needs a dog")
def test_dog():
    pass

@pytest.mark.parametrize("life", range(9))
def test_cat(life):
    pytest.skip("needs a cat")

@pytest.mark.xfail(reason="wings")
def test_pig():
    assert 0
"""


def test_a_missing_program_is_named_with_its_package_as_contributors_are_told(tmp_path, monkeypatch):
    (tmp_path / "chromium").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert needs.reason_without("chromium") == ""
    assert needs.reason_without("chromium", "ip") == "needs ip (Debian package iproute2)"
    several = "needs munged, sbatch, slurmd (Debian package munge, slurm-wlm)"
    assert needs.reason_without("munged", "sbatch", "slurmd") == several
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [package for package in needs.PACKAGES.values() if package not in text] == []


def test_a_run_ends_with_what_was_skipped_and_why(tmp_path):
    (tmp_path / "test_pets.py").write_text(SKIPPING)
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "-p", "tests.conftest"]
    run = subprocess.run([*command, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False)
    *_, title, cats, dogs, _ = run.stdout.splitlines()
    assert title.strip("= ") == "10 skipped"
    assert [cats, dogs] == ["    9  needs a cat", "    1  needs a dog"]
    assert "SKIPPED" not in run.stdout
    assert "XFAIL" in run.stdout
