"""Status of a job, in the same terms for every kind of cluster."""

import hashlib
import math
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

JobState = Literal["waiting", "running", "complete", "failed", "stopped"]
LONGEST_STEM = 27
"""longest name of a study in an id: KubeRay allows 47, and 20 are ours"""
ACTIVE: tuple[JobState, ...] = ("waiting", "running")
RAY_STATES: dict[str, JobState] = {
    "PENDING": "waiting",
    "RUNNING": "running",
    "SUCCEEDED": "complete",
    "STOPPED": "stopped",
    "FAILED": "failed",
}
"""states of Ray's own jobs, which a RayJob has too"""


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
        return self.state in ACTIVE

    @property
    def hours(self) -> float:
        if self.started is None:
            return 0.0
        return max(0.0, (self.ended or time.time()) - self.started) / 3600

    @property
    def number(self) -> int:
        match = _SUFFIX.search(self.submission_id)
        return int(match[1] or 1) if match else 1


def numbered_id(submission_id: str, number: int) -> str:
    """Return a study's submission id with the number of a submission.

    >>> numbered_id("rse-a-0123456789ab", 1), numbered_id("rse-a-0123456789ab", 2)
    ('rse-a-0123456789ab', 'rse-a-0123456789ab-2')
    """
    return submission_id if number == 1 else f"{submission_id}-{number}"


def of_study(reports: Iterable[JobReport], study: str) -> list[JobReport]:
    """Return the jobs of a study, in all its editions, oldest first.

    >>> of_study([JobReport("rse-b-0123456789ab", "7", "failed", "FAILED")], "a")
    []
    """
    mine = [each for each in reports if stem_of(each.submission_id) == submission_stem(study)]
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


def stem_of(submission_id: str) -> str:
    """Return a submission id without fingerprint and number; empty if it is not ours.

    >>> stem_of("rse-my-grid-0123456789ab-3"), stem_of("nightly")
    ('rse-my-grid', '')
    """
    match = _SUFFIX.search(submission_id)
    return submission_id[: match.start()] if match else ""


_SUFFIX = re.compile(r"-[0-9a-f]{12}(?:-([0-9]+))?$")
