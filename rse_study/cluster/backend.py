"""What every kind of cluster can be asked.

Its jobs, to run one, to show what it printed, to end it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from rse_study.cluster.job import Job
from rse_study.cluster.job_report import JobReport
from rse_study.cluster.rendered import RenderedFile

CommandWords = tuple[str, ...]
"""a program and its arguments"""


@dataclass(frozen=True)
class Submission:
    """A job that is ready to go: what it is, and where its files are on this machine."""

    job: Job
    files: tuple[RenderedFile, ...]
    """what the cluster is given, beside the job's own files"""
    folder: Path
    """where all of them are written"""


@dataclass(frozen=True)
class NodeHours:
    """How long nodes of one kind have been there."""

    group: str
    """a kind of worker nodes, `head`, or empty where the cluster does not tell them apart"""
    num_nodes: int
    """that are there now"""
    hours: float
    """of all of them together, those that are gone included"""


@runtime_checkable
class Backend(Protocol):
    """A cluster, driven by its own programs from this machine.

    Whatever asks the cluster raises InputError where it does not answer.
    """

    reuses_ids: bool
    """whether a submission id may be used again after its job has ended"""

    def folder_of(self, submission_id: str) -> Path:
        """Return the folder for a job's files on this machine."""

    def jobs(self) -> list[JobReport]:
        """Return every job the cluster knows, ours and others.

        None where no cluster was started.
        """

    def submission(self, submission: Submission) -> list[CommandWords]:
        """Return the commands that submit a job, in order; nothing is run."""

    def submit(self, submission: Submission) -> str:
        """Submit a job whose files are written, and return its handle."""

    def show_log(self, report: JobReport, is_followed: bool) -> None:
        """Print a job's output, with `is_followed` until the job ends."""

    def ending(self, reports: list[JobReport], is_last: bool) -> list[CommandWords]:
        """Return the commands by which `end` ends jobs; nothing is run."""

    def end(self, reports: list[JobReport], is_last: bool) -> None:
        """End these jobs; with `is_last` the cluster, too, where it outlives its jobs."""

    def node_hours(self, reports: list[JobReport]) -> list[NodeHours]:
        """Return how long nodes were there for these jobs."""
