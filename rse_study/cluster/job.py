"""A study as a job of a cluster; its folder has the resolved study and our wheel."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rse_study.cluster.job_report import submission_stem
from rse_study.cluster.price import device_hour_price
from rse_study.cluster.spec import STUDY_FILE, ClusterSpec
from rse_study.cluster.study_files import files_of_study
from rse_study.cluster.wheel import Wheel, zipped
from rse_study.cluster.yaml_text import yaml_text
from rse_study.spec import fingerprint_of
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.definition.config import Study

ID_DIGITS = 12
PRICE_DIGITS = 6


@dataclass(frozen=True)
class Job:
    """The unit of work that a cluster runs."""

    study: str
    submission_id: str
    """rse-NAME-DIGITS; the digits depend on the question, not on resources"""
    study_yaml: str
    storage: str
    """location of the study's files; empty: its folder in the store"""
    options: tuple[str, ...]
    """of `rse-study run`: address, store and limits"""
    wheel: Wheel
    price_per_hour: float = 0.0
    """of a device, by the study or the cluster"""
    files: Mapping[str, Path] = field(default_factory=dict)
    """files beside the study that it needs, by their path there"""


@dataclass(frozen=True)
class RenderedFile:
    """A text file for an external program."""

    name: str
    """file name without a folder: job.sbatch, rayjob.yaml, cluster.yaml, cluster.sh"""
    text: str


@dataclass(frozen=True)
class Submission:
    """A job ready for submission, with its local files."""

    job: Job
    files: tuple[RenderedFile, ...]
    folder: Path


def job_of(
    checked: CheckedStudy,
    content: dict[str, Any],
    spec: ClusterSpec,
    wheel: Wheel,
    limits: Sequence[str] = (),
) -> Job:
    """Return the job that runs a study, with prices and storage filled in.

    `content` is the resolved study; `limits` are arguments of `run` such as --max-hours.
    """
    storage = storage_of(checked, spec)
    settled = content | ({"storage": storage} if storage else {})
    device_price = device_hour_price(spec, checked.study.resources)
    price = checked.study.allowance.price_per_hour or round(device_price, PRICE_DIGITS)
    if price:
        settled["allowance"] = content.get("allowance", {}) | {"price_per_hour": price}
    return Job(
        study=checked.study.name,
        submission_id=submission_id(checked.study),
        study_yaml=yaml_text(settled),
        storage=storage,
        options=(*run_options(spec), *limits),
        wheel=wheel,
        price_per_hour=price,
        files=files_of_study(checked),
    )


def submission_id(study: Study) -> str:
    """Return a study's id, which depends on its question but not on its resources."""
    return f"{submission_stem(study.name)}-{fingerprint_of(study.resolved())[:ID_DIGITS]}"


def run_options(spec: ClusterSpec) -> tuple[str, ...]:
    """Return the options of `run`, without the storage, whose URL shells would break."""
    return ("--address", "auto", "--store", spec.store)


def sample_job(spec: ClusterSpec) -> Job:
    """Return a job without a study and code, for checking a cluster's own files."""
    name = f"rse-sample-{'0' * ID_DIGITS}"
    wheel = Wheel("rse_study-0-py3-none-any.whl", zipped([]))
    return Job("sample", name, "name: sample\n", spec.storage, run_options(spec), wheel)


def storage_of(checked: CheckedStudy, spec: ClusterSpec) -> str:
    """Return the study's storage, else the cluster's."""
    return checked.study.storage or spec.storage


def copy_files(job: Job, folder: Path) -> list[Path]:
    """Copy what lies beside the study into a folder, by the same relative paths."""
    for name, source in job.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, folder / name)
    return [folder / name for name in job.files]


def job_files(job: Job) -> dict[str, bytes]:
    """Return the contents of the study's own file and the code, by file name."""
    return {STUDY_FILE: job.study_yaml.encode(), job.wheel.name: job.wheel.content}
