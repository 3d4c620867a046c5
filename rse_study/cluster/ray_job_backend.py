"""Jobs of a running Ray cluster: `ray job submit`, `logs`, `stop`, at the address of its dashboard."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rse_study.cluster.backend import Command
from rse_study.cluster.job_report import JobReport, JobState
from rse_study.cluster.program import ProgramResult, call, follow
from rse_study.cluster.ray_dashboard import RayDashboard
from rse_study.errors import InputError

REMEDY = "Ray's command `ray` comes with this package: activate its environment"
STATES: dict[str, JobState] = {
    "PENDING": "waiting",
    "RUNNING": "running",
    "SUCCEEDED": "complete",
    "STOPPED": "stopped",
    "FAILED": "failed",
}


@dataclass(frozen=True)
class RayJobs:
    """The jobs of one Ray cluster."""

    dashboard: RayDashboard
    reuses_ids = False

    def jobs(self) -> list[JobReport]:
        """Return every job that was submitted to the cluster."""
        nodes = len(self.dashboard.nodes())
        return [_report(job, nodes) for job in self.dashboard.jobs() if job.get("submission_id")]

    def submission(self, folder: Path, submission_id: str, command: Sequence[str]) -> Command:
        """Return the command that submits a job whose files are in a folder."""
        where = ("--address", self.dashboard.address, "--submission-id", submission_id)
        resources = ("--entrypoint-resources", '{"rse_driver": 1}')
        return ("ray", "job", "submit", *where, "--working-dir", str(folder), *resources, "--no-wait", "--", *command)  # fmt: skip

    def submit(self, folder: Path, submission_id: str, command: Sequence[str]) -> None:
        """Submit a job. Raises InputError where Ray refuses it."""
        self._required(self.submission(folder, submission_id, command))

    def show_log(self, submission_id: str, is_followed: bool) -> None:
        """Print a job's output, with `is_followed` until it ends."""
        options = ("--follow",) if is_followed else ()
        follow(self._job("logs", submission_id, *options), remedy=REMEDY, env=self.dashboard.env)

    def stopping(self, submission_id: str) -> Command:
        """Return the command that stops a job."""
        return self._job("stop", submission_id)

    def stop(self, submission_id: str) -> None:
        """Stop a job."""
        self._required(self.stopping(submission_id))

    def _job(self, verb: str, submission_id: str, *options: str) -> Command:
        return ("ray", "job", verb, "--address", self.dashboard.address, *options, submission_id)

    def _required(self, command: Command) -> ProgramResult:
        result = call(command, remedy=REMEDY, env=self.dashboard.env)
        if result.code:
            raise InputError(f"ray job: {result.complaint}", where=self.dashboard.address)
        return result


def _report(job: dict, num_nodes: int) -> JobReport:
    state = STATES.get(job["status"], "failed")
    started, ended = job.get("start_time"), job.get("end_time")
    message = str(job.get("message") or "").strip().splitlines()
    return JobReport(
        submission_id=job["submission_id"],
        handle=job["submission_id"],
        state=state,
        native=job["status"],
        num_nodes=num_nodes,
        started=started / 1000 if started else None,
        ended=ended / 1000 if ended else None,
        reason=message[0] if message and state == "failed" else "",
    )
