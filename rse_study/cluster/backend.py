"""Interface of cluster backends: list, submit, follow and end jobs."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rse_study.cluster.job import Submission
from rse_study.cluster.job_report import JobReport
from rse_study.cluster.program import CommandWords, answer_of


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

    @abstractmethod
    def dashboard(self, report: JobReport) -> str:
        """Return how to open Ray's dashboard; empty if it is not up."""

    @abstractmethod
    def ending(self, reports: list[JobReport], is_last: bool) -> list[CommandWords]:
        """Return the commands by which `end` ends jobs, without running them."""

    def end(self, reports: list[JobReport], is_last: bool) -> None:
        """End these jobs; with `is_last` also a cluster that outlives its jobs."""
        for command in self.ending(reports, is_last):
            answer_of(command, rule="the cluster does not answer, or refused it")
