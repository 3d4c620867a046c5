"""A study as a job of a cluster; its folder has the resolved study and our wheel."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rse_study.cluster.job_report import submission_stem
from rse_study.cluster.price import device_hour_price
from rse_study.cluster.spec import STUDY_FILE, ClusterSpec
from rse_study.cluster.wheel import Wheel
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
    command: tuple[str, ...]
    """runs on the head, in the job's folder"""
    wheel: Wheel


@dataclass(frozen=True)
class RenderedFile:
    """A text file for an external program."""

    name: str
    """file name without a folder: job.sbatch, rayjob.yaml, cluster.yaml, cluster.sh"""
    text: str


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
    """Return a study's id, which depends on its question but not on its resources."""
    return f"{submission_stem(study.name)}-{fingerprint_of(study.resolved())[:ID_DIGITS]}"


def run_command(spec: ClusterSpec) -> tuple[str, ...]:
    """Return the head's command, without the storage, whose URL shells would break."""
    # `python -m`: a node may have the code but not the script.
    return ("python", "-m", "rse_study", "run", spec.study_path, "--address", "auto", "--store", spec.store)


def sample_job(spec: ClusterSpec, wheel: Wheel) -> Job:
    """Return a job without a real study, for checking a cluster's own files."""
    name = f"rse-sample-{'0' * ID_DIGITS}"
    return Job("sample", name, "name: sample\n", spec.storage, run_command(spec), wheel)


def storage_of(checked: CheckedStudy, spec: ClusterSpec) -> str:
    """Return the study's storage, else the cluster's."""
    return checked.study.storage or spec.storage


def job_files(job: Job) -> dict[str, bytes]:
    """Return the contents of the job's folder by file name."""
    return {STUDY_FILE: job.study_yaml.encode(), job.wheel.name: job.wheel.content}
