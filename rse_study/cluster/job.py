"""A study as a job of a cluster: its name there, its files, its command.

A job is a folder with two files: the study, resolved, so that it needs no other file; and the code as the wheel of
this version (`rse_study.cluster.wheel`). The command is given in that folder.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rse_study.cluster.spec import STUDY_FILE, ClusterSpec
from rse_study.cluster.wheel import Wheel
from rse_study.cluster.yaml_text import yaml_text
from rse_study.study.checking.validation import CheckedStudy

ID_DIGITS = 12


@dataclass(frozen=True)
class Job:
    """What a cluster runs."""

    study: str
    """its name"""
    submission_id: str
    """rse-NAME-DIGITS; the digits follow from all that the resolved study says"""
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
    study, storage = checked.study, storage_of(checked, spec)
    # `python -m`: a node may have the code and no script of it. The storage is in the file: a URL on a command line
    # would have to survive every shell between here and the head.
    command = (
        "python",
        "-m",
        "rse_study",
        "run",
        spec.study_path,
        "--address",
        "auto",
        "--store",
        spec.store,
    )
    return Job(
        study=study.name,
        submission_id=f"rse-{study.name}-{study.fingerprint()[:ID_DIGITS]}",
        study_yaml=yaml_text(content | ({"storage": storage} if storage else {})),
        storage=storage,
        command=(*command, *limits),
        wheel=wheel,
    )


def storage_of(checked: CheckedStudy, spec: ClusterSpec) -> str:
    """Return where a study keeps its files: as it says, else as the cluster says."""
    return getattr(checked.study, "storage", "") or spec.storage


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
