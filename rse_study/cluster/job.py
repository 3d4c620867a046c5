"""A study as a job of a cluster, its status there, and a record of it here.

A job's folder has the resolved study and our wheel. A status is in the same terms for every cluster. A record is
`<store>/.clusters/<cluster>/<study>.json`: the cluster may have forgotten the jobs.
"""

import hashlib
import io
import math
import re
import shutil
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter
from ruamel.yaml import YAML

from rse_study.cluster.spec import ClusterSpec
from rse_study.cluster.wheel import Wheel
from rse_study.errors import InputError, first_line
from rse_study.results.files.atomic import write_whole

NEVER_FOLDED = 1_000_000
JobState = Literal["waiting", "running", "complete", "failed", "stopped"]
LONGEST_STEM = 27
"""longest name of a study in an id: KubeRay allows 47, and 20 are ours"""
STATES: dict[JobState, tuple[str, str]] = {
    "waiting": ("is waiting to start", "logs -f"),
    "running": ("is running", "logs -f"),
    "complete": ("has completed", "fetch"),
    "failed": ("failed", "logs"),
    "stopped": ("was stopped", "submit"),
}
"""what is said of a job, and the command of ours that follows"""
RAY_STATES: dict[str, JobState] = {
    "PENDING": "waiting",
    "RUNNING": "running",
    "SUCCEEDED": "complete",
    "STOPPED": "stopped",
    "FAILED": "failed",
}
"""states of Ray's own jobs, which a RayJob has too"""
SUFFIX = re.compile(r"-[0-9a-f]{12}(?:-([0-9]+))?$")
"""end of our submission ids: a fingerprint, and a number from the second submission on"""


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

    def copy_files(self, folder: Path) -> list[Path]:
        """Copy what lies beside the study into a folder, by the same relative paths."""
        for name, source in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, folder / name)
        return [folder / name for name in self.files]


def run_options(spec: ClusterSpec) -> tuple[str, ...]:
    """Return the options of `run`, without the storage, whose URL shells would break."""
    return ("--address", "auto", "--store", spec.store)


def sample_job(spec: ClusterSpec) -> Job:
    """Return a job without a study and code, for checking a cluster's own files."""
    name, wheel = submission_id("sample", "0" * 64), Wheel("rse_study-0-py3-none-any.whl", {})
    return Job("sample", name, "name: sample\n", spec.storage, run_options(spec), wheel)


def yaml_text(content: dict[str, Any]) -> str:
    """Return a mapping as YAML 1.2, in the order of its keys and without anchors."""
    writer, stream = YAML(typ="safe", pure=True), io.StringIO()
    writer.default_flow_style, writer.width = False, NEVER_FOLDED
    writer.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    writer.representer.ignore_aliases = lambda data: True
    writer.dump(content, stream)
    return stream.getvalue()


@dataclass(frozen=True)
class JobReport:
    """The status of one job."""

    submission_id: str
    """the study's id, numbered from the second submission on"""
    handle: str
    """the cluster's own id of the job: Slurm's number, else the submission id"""
    state: JobState
    native: str
    """the cluster's own name of the state"""
    started: float | None = None
    ended: float | None = None
    """seconds since 1970"""
    reason: str = ""
    """the cluster's reason for waiting or failure"""

    @property
    def is_active(self) -> bool:
        return self.state in ("waiting", "running")

    @property
    def seconds(self) -> float:
        return 0.0 if self.started is None else max(0.0, (self.ended or time.time()) - self.started)

    @property
    def number(self) -> int:
        match = SUFFIX.search(self.submission_id)
        return int(match[1] or 1) if match else 1

    @property
    def stem(self) -> str:
        """The submission id without fingerprint and number; empty if it is not ours."""
        match = SUFFIX.search(self.submission_id)
        return self.submission_id[: match.start()] if match else ""

    def __str__(self) -> str:
        return f"{STATES[self.state][0]} ({self.native}{f': {self.reason}' if self.reason else ''})"


def of_study(reports: Iterable[JobReport], study: str) -> list[JobReport]:
    """Return the jobs of a study, in all its editions, oldest first.

    >>> of_study([JobReport("rse-b-0123456789ab", "7", "failed", "FAILED")], "a")
    []
    """
    mine = [each for each in reports if each.stem == submission_stem(study)]
    return sorted(mine, key=lambda each: (each.started or math.inf, each.number))


def submission_stem(study: str) -> str:
    """Return the prefix of a study's submission ids, which name Kubernetes objects.

    >>> submission_stem("my-grid"), submission_stem("my_grid")
    ('rse-my-grid', 'rse-my-grid-05e3')
    """
    plain = study.replace("_", "-")[:LONGEST_STEM].strip("-")
    if plain == study:
        return f"rse-{study}"
    return f"rse-{plain[: LONGEST_STEM - 5].rstrip('-')}-{hashlib.sha256(study.encode()).hexdigest()[:4]}"


def submission_id(study: str, fingerprint: str) -> str:
    """Return the id of a study's first submission."""
    return f"{submission_stem(study)}-{fingerprint[:12]}"


@dataclass(frozen=True)
class SubmissionRecord:
    """A local record of a study on a cluster, which may have forgotten it."""

    study: str
    storage: str
    store: str = "studies"
    """folder of the driver's ledgers"""
    price_per_hour: float = 0.0
    """of a device; 0 if it is free or the study has no price"""
    reports: tuple[JobReport, ...] = ()

    @staticmethod
    def read(home: Path, study: str) -> "SubmissionRecord | None":
        """Read the record of a study on a cluster; None if there is none."""
        path = home / f"{study}.json"
        try:
            return RECORDS.validate_json(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            remedy = "Move it away: the cluster still knows its jobs"
            raise InputError(f"damaged: {first_line(error)}", where=str(path), remedy=remedy) from None

    def write(self, home: Path) -> None:
        """Write the record atomically."""
        write_whole(home / f"{self.study}.json", RECORDS.dump_json(self, indent=1))

    def with_reports(self, reports: Iterable[JobReport]) -> "SubmissionRecord":
        """Update with new reports; jobs that the cluster forgot stay, active ones as over."""
        known = {each.handle: _as_forgotten(each) if each.is_active else each for each in self.reports}
        return replace(self, reports=tuple((known | {each.handle: each for each in reports}).values()))


def _as_forgotten(before: JobReport) -> JobReport:
    reason = "the cluster no longer knows it"
    return replace(before, state="stopped", native="GONE", ended=time.time(), reason=reason)


RECORDS = TypeAdapter(SubmissionRecord)
