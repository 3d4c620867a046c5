"""What is missing on a machine is named, with the package that brings it, and counted at the end of a run."""

from pathlib import Path

from tests import needs

ROOT = Path(__file__).parents[1]


def test_a_missing_program_is_named_with_its_package_as_contributors_are_told(tmp_path, monkeypatch):
    (tmp_path / "chromium").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert needs.reason_without("chromium") == ""
    assert needs.reason_without("chromium", "ip") == "needs ip (Debian package iproute2)"
    several = "needs munged, sbatch, slurmd (Debian package munge, slurm-wlm)"
    assert needs.reason_without("munged", "sbatch", "slurmd") == several
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [package for package in needs.PACKAGES.values() if package not in text] == []
