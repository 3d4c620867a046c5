"""Interface of cluster backends: list, submit, follow and end jobs."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rse_study.cluster.job import Job, RenderedFile
from rse_study.cluster.job_report import JobReport

CommandWords = tuple[str, ...]


@dataclass(frozen=True)
class Submission:
    """A job ready for submission, with its local files."""

    job: Job
    files: tuple[RenderedFile, ...]
    folder: Path


@dataclass(frozen=True)
class NodeHours:
    """Uptime of the nodes of one kind."""

    group: str
    """kind of worker nodes, `head`, or empty if the cluster does not distinguish them"""
    num_nodes: int
    """present number"""
    hours: float
    """sum over nodes, including those that have ended"""


@dataclass(frozen=True)
class Backend(ABC):
    """A cluster controlled by its own programs; InputError if it does not respond."""

    home: Path
    """folder of the jobs' folders"""
    reuses_ids: ClassVar[bool] = False
    """whether a submission id may be used again after its job has ended"""

    def folder_of(self, submission_id: str) -> Path:
        return self.home / submission_id

    @abstractmethod
    def jobs(self) -> list[JobReport]:
        """Return all jobs on the cluster, ours and others; none if it was never started."""

    @abstractmethod
    def submission(self, submission: Submission) -> list[CommandWords]:
        """Return the commands that submit a job, in order, without running them."""

    @abstractmethod
    def submit(self, submission: Submission) -> str:
        """Submit a job whose files are written, and return its handle."""

    @abstractmethod
    def show_log(self, report: JobReport, is_followed: bool) -> None:
        """Print a job's output; with `is_followed`, until the job ends."""

    def dashboard(self) -> str:
        """Return how to open Ray's dashboard; empty if it is not up, or not for us."""
        return ""

    @abstractmethod
    def ending(self, reports: list[JobReport], is_last: bool) -> list[CommandWords]:
        """Return the commands by which `end` ends jobs, without running them."""

    @abstractmethod
    def end(self, reports: list[JobReport], is_last: bool) -> None:
        """End these jobs; with `is_last` also a cluster that outlives its jobs."""

    @abstractmethod
    def node_hours(self, reports: list[JobReport]) -> list[NodeHours]:
        """Return the node hours of these jobs."""


class BatchBackend(Backend):
    """A cluster where a job gets nodes of its own, and takes them along at its end."""

    @abstractmethod
    def answer(self, command: CommandWords) -> str:
        """Run a command and return its output; InputError if it fails."""

    def end(self, reports: list[JobReport], is_last: bool) -> None:
        for command in self.ending(reports, is_last):
            self.answer(command)

    def node_hours(self, reports: list[JobReport]) -> list[NodeHours]:
        num_nodes = sum(report.num_nodes for report in reports if report.is_active)
        hours = sum(report.num_nodes * report.hours for report in reports)
        return [NodeHours("", num_nodes, hours)] if reports else []
