"""A study as a job of a cluster: its name there, its files, its command.

A job is a folder with two files: the study, resolved, so that it needs no other file; and the code as the wheel of
this version (`rse_study.cluster.wheel`). The command is given in that folder.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rse_study.cluster.job_report import submission_stem
from rse_study.cluster.price import device_hour_price
from rse_study.cluster.spec import STUDY_FILE, ClusterSpec
from rse_study.cluster.wheel import Wheel
from rse_study.cluster.yaml_text import yaml_text
from rse_study.spec import fingerprint_of
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.definition.config import Study
from rse_study.study.record import resolved

ID_DIGITS = 12
PRICE_DIGITS = 6


@dataclass(frozen=True)
class Job:
    """What a cluster runs."""

    study: str
    """its name"""
    submission_id: str
    """rse-NAME-DIGITS; the digits follow from the question, which other resources leave as it is"""
    study_yaml: str
    """the resolved study, which needs no other file"""
    storage: str
    """where its files are kept; empty: in its folder in the store"""
    command: tuple[str, ...]
    """in the job's folder, on the head"""
    wheel: Wheel
    """the code"""


def job_of(
    checked: CheckedStudy,
    content: dict[str, Any],
    spec: ClusterSpec,
    wheel: Wheel,
    limits: Sequence[str] = (),
) -> Job:
    """Return the job that runs a study on a cluster.

    Parameters
    ----------
    checked
        The study.
    content
        Its file, resolved: without `extends`, with overrides.
    spec
        The cluster.
    wheel
        The code.
    limits
        More arguments of `run`: --max-hours and --max-cost.
    """
    storage = storage_of(checked, spec)
    settled = content | ({"storage": storage} if storage else {})
    price = checked.study.allowance.price_per_hour or device_hour_price(spec, checked.study.resources)
    if price:
        settled["allowance"] = content.get("allowance", {}) | {"price_per_hour": round(price, PRICE_DIGITS)}
    return Job(
        study=checked.study.name,
        submission_id=submission_id(checked.study),
        study_yaml=yaml_text(settled),
        storage=storage,
        command=(*run_command(spec), *limits),
        wheel=wheel,
    )


def submission_id(study: Study) -> str:
    """Return the study's name on a cluster: the same question has the same one.

    What it may cost, where it runs and where its files are is no part of it.
    """
    return f"{submission_stem(study.name)}-{fingerprint_of(resolved(study))[:ID_DIGITS]}"


def run_command(spec: ClusterSpec) -> tuple[str, ...]:
    """Return the command that runs the study on the head.

    The storage is in the study's file: on a command line, a URL would have to survive every shell on its way.
    """
    # `python -m`: a node may have the code and no script of it.
    return ("python", "-m", "rse_study", "run", spec.study_path, "--address", "auto", "--store", spec.store)


def sample_job(spec: ClusterSpec, wheel: Wheel) -> Job:
    """Return a job of no study: what it takes to check the files of a cluster as such."""
    return Job(
        "sample", f"rse-sample-{'0' * ID_DIGITS}", "name: sample\n", spec.storage, run_command(spec), wheel
    )


def storage_of(checked: CheckedStudy, spec: ClusterSpec) -> str:
    """Return where a study keeps its files: as it says, else as the cluster says."""
    return checked.study.storage or spec.storage


def job_files(job: Job) -> dict[str, bytes]:
    """Return what the job's folder holds, by file name."""
    return {STUDY_FILE: job.study_yaml.encode(), job.wheel.name: job.wheel.content}


def write_job_files(job: Job, folder: Path) -> list[Path]:
    """Write what the job's folder holds; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = {folder / name: content for name, content in job_files(job).items()}
    for path, content in written.items():
        path.write_bytes(content)
    return list(written)
