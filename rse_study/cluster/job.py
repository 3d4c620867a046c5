"""A study as a job of a cluster; its folder has the resolved study and our wheel."""

import io
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from rse_study.cluster.job_report import submission_stem
from rse_study.cluster.node_capacity import device_hour_price
from rse_study.cluster.spec import ClusterSpec
from rse_study.cluster.study_files import files_of_study
from rse_study.cluster.wheel import Wheel, zipped
from rse_study.spec import fingerprint_of
from rse_study.study.checking.validation import CheckedStudy

ID_DIGITS = 12
PRICE_DIGITS = 6
NEVER_FOLDED = 1_000_000


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
    study = checked.study
    storage = study.storage or spec.storage
    settled = content | ({"storage": storage} if storage else {})
    price = study.allowance.price_per_hour or round(device_hour_price(spec, study.resources), PRICE_DIGITS)
    if price:
        settled["allowance"] = content.get("allowance", {}) | {"price_per_hour": price}
    return Job(
        study=study.name,
        submission_id=f"{submission_stem(study.name)}-{fingerprint_of(study.resolved())[:ID_DIGITS]}",
        study_yaml=yaml_text(settled),
        storage=storage,
        options=(*run_options(spec), *limits),
        wheel=wheel,
        price_per_hour=price,
        files=files_of_study(checked),
    )


def run_options(spec: ClusterSpec) -> tuple[str, ...]:
    """Return the options of `run`, without the storage, whose URL shells would break."""
    return ("--address", "auto", "--store", spec.store)


def sample_job(spec: ClusterSpec) -> Job:
    """Return a job without a study and code, for checking a cluster's own files."""
    name = f"rse-sample-{'0' * ID_DIGITS}"
    wheel = Wheel("rse_study-0-py3-none-any.whl", zipped([]))
    return Job("sample", name, "name: sample\n", spec.storage, run_options(spec), wheel)


def copy_files(job: Job, folder: Path) -> list[Path]:
    """Copy what lies beside the study into a folder, by the same relative paths."""
    for name, source in job.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, folder / name)
    return [folder / name for name in job.files]


def yaml_text(content: dict[str, Any]) -> str:
    """Return a mapping as YAML 1.2, in the order of its keys and without anchors."""
    writer, stream = YAML(typ="safe", pure=True), io.StringIO()
    writer.default_flow_style, writer.width = False, NEVER_FOLDED
    writer.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    writer.representer.ignore_aliases = lambda data: True
    writer.dump(content, stream)
    return stream.getvalue()
