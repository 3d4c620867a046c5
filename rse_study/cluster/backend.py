"""Interface of cluster backends: list, submit, follow and end jobs."""

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
    """A job ready for submission, with its local files."""

    job: Job
    files: tuple[RenderedFile, ...]
    """input of the cluster's programs, besides the job's own files"""
    folder: Path
    """local folder of all these files"""


@dataclass(frozen=True)
class NodeHours:
    """Uptime of the nodes of one kind."""

    group: str
    """kind of worker nodes, `head`, or empty if the cluster does not distinguish them"""
    num_nodes: int
    """present number"""
    hours: float
    """sum over nodes, including those that have ended"""


@runtime_checkable
class Backend(Protocol):
    """A cluster controlled from this machine by its own command-line programs.

    Methods that query the cluster raise InputError if it does not respond.
    """

    reuses_ids: bool
    """whether a submission id may be used again after its job has ended"""

    def folder_of(self, submission_id: str) -> Path:
        """Return the local folder for a job's files."""

    def jobs(self) -> list[JobReport]:
        """Return all jobs on the cluster, ours and others; none if it was never started."""

    def submission(self, submission: Submission) -> list[CommandWords]:
        """Return the commands that submit a job, in order, without running them."""

    def submit(self, submission: Submission) -> str:
        """Submit a job whose files are written, and return its handle."""

    def show_log(self, report: JobReport, is_followed: bool) -> None:
        """Print a job's output; with `is_followed`, until the job ends."""

    def ending(self, reports: list[JobReport], is_last: bool) -> list[CommandWords]:
        """Return the commands by which `end` ends jobs, without running them."""

    def end(self, reports: list[JobReport], is_last: bool) -> None:
        """End these jobs; with `is_last` also a cluster that outlives its jobs."""

    def node_hours(self, reports: list[JobReport]) -> list[NodeHours]:
        """Return the node hours of these jobs."""
