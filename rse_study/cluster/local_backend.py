"""A cluster of several nodes on this machine, started by a script."""

import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rse_study.cluster.backend import CommandWords, NodeHours, Submission
from rse_study.cluster.job_report import JobReport
from rse_study.cluster.kinds.local import LocalCluster
from rse_study.cluster.program import our_environment
from rse_study.cluster.ray_dashboard import RayDashboard
from rse_study.cluster.ray_job_backend import RayJobs
from rse_study.errors import InputError
from rse_study.results.atomic import write_whole

SCRIPT, PROCESS, LOG = "cluster.sh", "cluster.pid", "cluster.log"
START_SECONDS = 180.0
END_SECONDS = 30.0


@dataclass(frozen=True)
class LocalBackend:
    """A cluster on this machine, from `cluster submit` to `cluster down`."""

    spec: LocalCluster
    home: Path
    reuses_ids = False

    @property
    def ray(self) -> RayJobs:
        dashboard = RayDashboard(f"http://127.0.0.1:{self.spec.dashboard_port}", self.spec.token)
        return RayJobs(dashboard, is_on_this_machine=True)

    def folder_of(self, submission_id: str) -> Path:
        return self.home / submission_id

    def jobs(self) -> list[JobReport]:
        return self.ray.reports() if self.ray.dashboard.answers() else []

    def submission(self, submission: Submission) -> list[CommandWords]:
        return [("bash", str(submission.folder / SCRIPT)), self.ray.submission(submission)]

    def submit(self, submission: Submission) -> str:
        if not self.ray.dashboard.answers():
            self._start(submission.folder / SCRIPT)
        return self.ray.submit(submission)

    def show_log(self, report: JobReport, is_followed: bool) -> None:
        self.ray.show_log(report.submission_id, is_followed)

    def ending(self, reports: list[JobReport], is_last: bool) -> list[CommandWords]:
        number = self._process() if is_last else 0
        return [*self.ray.stopping(reports), *([("kill", "--", f"-{number}")] if number else [])]

    def end(self, reports: list[JobReport], is_last: bool) -> None:
        self.ray.stop(reports)
        number = self._process() if is_last else 0
        if number:
            _end_group(number)
            (self.home / PROCESS).unlink()

    def node_hours(self, reports: list[JobReport]) -> list[NodeHours]:
        return self.ray.node_hours(time.time()) if self.ray.dashboard.answers() else []

    def _start(self, script: Path) -> None:
        """Start the nodes in a new process session; wait until they accept jobs."""
        log = self.home / LOG
        with log.open("w", encoding="utf-8") as output:
            process = subprocess.Popen(
                ["bash", str(script)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=our_environment(),
            )
        write_whole(self.home / PROCESS, f"{process.pid}\n")
        deadline = time.monotonic() + START_SECONDS
        while not self.ray.dashboard.answers():
            if process.poll() is not None or time.monotonic() > deadline:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                remedy = f"What its processes said is in {log}"
                raise InputError("the cluster did not start", where=self.spec.name, remedy=remedy)
            time.sleep(1.0)

    def _process(self) -> int:
        """Return the process id of the cluster's leader; 0 if it is not running."""
        with suppress(OSError, ValueError):
            number = int((self.home / PROCESS).read_text(encoding="utf-8"))
            # The process id may have been reused since.
            told = subprocess.run(
                ["ps", "-o", "args=", "-p", str(number)], capture_output=True, text=True, check=False
            )
            return number if f"/{SCRIPT}" in told.stdout else 0
        return 0


def _end_group(number: int) -> None:
    """Terminate a process group, and kill it if it does not end."""
    with suppress(ProcessLookupError):
        os.killpg(number, signal.SIGTERM)
        deadline = time.monotonic() + END_SECONDS
        while time.monotonic() < deadline:
            os.killpg(number, 0)
            time.sleep(0.2)
        os.killpg(number, signal.SIGKILL)
