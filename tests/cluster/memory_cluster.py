"""A cluster that is a list: it takes jobs, and a test says what becomes of them."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from rse_study.cluster.job import Submission
from rse_study.cluster.job_report import JobReport, JobState
from rse_study.cluster.program import CommandWords
from rse_study.errors import InputError


@dataclass
class MemoryCluster:
    """It refuses an id it has seen, as Ray does, unless told otherwise."""

    folder: Path
    reuses_ids: bool = False
    known: list[JobReport] = field(default_factory=list)

    def folder_of(self, submission_id: str) -> Path:
        return self.folder / submission_id

    def jobs(self) -> list[JobReport]:
        return list(self.known)

    def submission(self, submission: Submission) -> list[CommandWords]:
        return [("take", submission.job.submission_id)]

    def submit(self, submission: Submission) -> str:
        name = submission.job.submission_id
        if not self.reuses_ids and any(report.submission_id == name for report in self.known):
            raise InputError(f"{name} was used")
        self.known.append(JobReport(name, str(len(self.known) + 1), "running", "RUNNING", started=1.0))
        return self.known[-1].handle

    def becomes(self, state: JobState) -> None:
        """Have the newest job end so."""
        self.known[-1] = replace(self.known[-1], state=state, native=state.upper(), ended=2.0)

    def show_log(self, report: JobReport, is_followed: bool) -> None:
        print(report.submission_id)

    def ending(self, reports: list[JobReport], is_last: bool) -> list[CommandWords]:
        return [("end", report.handle) for report in reports]

    def end(self, reports: list[JobReport], is_last: bool) -> None:
        self.becomes("stopped")
