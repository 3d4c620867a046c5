"""A cluster of several nodes on this machine, started by a script."""

import os
import signal
import subprocess
import time
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass

from rse_study.cluster.backend import CommandWords, Submission
from rse_study.cluster.job_report import JobReport
from rse_study.cluster.kinds.local import LocalCluster
from rse_study.cluster.program import call, our_environment
from rse_study.cluster.ray_dashboard import RayDashboard
from rse_study.cluster.ray_job_backend import RayBackend, RayJobs
from rse_study.errors import InputError
from rse_study.results.files.atomic import write_whole

SCRIPT, PROCESS, LOG = "cluster.sh", "cluster.pid", "cluster.log"
START_SECONDS = 180.0
END_SECONDS = 60.0  # nodes that are busy take 30 s


@dataclass(frozen=True)
class LocalBackend(RayBackend):
    """A cluster on this machine, from `cluster submit` to `cluster down`."""

    spec: LocalCluster

    @property
    def _jobs(self) -> RayJobs:
        dashboard = RayDashboard(f"http://127.0.0.1:{self.spec.dashboard_port}", self.spec.token)
        return RayJobs(dashboard, is_on_this_machine=True)

    def is_up(self) -> bool:
        return self._jobs.dashboard.answers()

    def ray(self) -> AbstractContextManager[RayJobs]:
        return nullcontext(self._jobs)

    def submission(self, submission: Submission) -> list[CommandWords]:
        return [("bash", str(submission.folder / SCRIPT)), self._jobs.submission(submission)]

    def ending(self, reports: list[JobReport], is_last: bool) -> list[CommandWords]:
        number = self._process() if is_last else 0
        return [*self._jobs.stopping(reports), *([("kill", str(number))] if number else [])]

    def end(self, reports: list[JobReport], is_last: bool) -> None:
        self._jobs.stop(reports)
        number = self._process() if is_last else 0
        if number:
            _end_group(number)
            (self.home / PROCESS).unlink()

    def start(self, submission: Submission) -> None:
        log = self.home / LOG
        with log.open("w", encoding="utf-8") as output:
            process = subprocess.Popen(
                ["bash", str(submission.folder / SCRIPT)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=our_environment(),
            )
        write_whole(self.home / PROCESS, f"{process.pid}\n")
        if not self._jobs.dashboard.answers_within(START_SECONDS, process):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            remedy = f"The output of its processes is in {log}"
            raise InputError("the cluster did not start", where=self.spec.name, remedy=remedy)

    def _process(self) -> int:
        """Return the process id of the cluster's leader; 0 if it is not running."""
        with suppress(OSError, ValueError):
            number = int((self.home / PROCESS).read_text(encoding="utf-8"))
            # The process id may have been reused since.
            told = call(("ps", "-o", "args=", "-p", str(number)), remedy="Install procps")
            return number if f"/{SCRIPT}" in told.out else 0
        return 0


def _end_group(number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(
            number, signal.SIGTERM
        )  # the script alone, which ends the nodes: with the head at once they wait for it
        deadline = time.monotonic() + END_SECONDS
        while time.monotonic() < deadline:
            os.killpg(number, 0)
            time.sleep(0.2)
        os.killpg(number, signal.SIGKILL)
