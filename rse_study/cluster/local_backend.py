"""A cluster of several nodes on this machine, started by a script."""

import os
import signal
import subprocess
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass

import psutil

from rse_study.cluster.backend import CommandWords, Submission
from rse_study.cluster.job_report import JobReport
from rse_study.cluster.kinds.local import LocalCluster
from rse_study.cluster.program import our_environment
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
        script = self._script() if is_last else None
        return [*self._jobs.stopping(reports), *([("kill", str(script.pid))] if script else [])]

    def end(self, reports: list[JobReport], is_last: bool) -> None:
        self._jobs.stop(reports)
        if is_last and (script := self._script()):
            script.terminate()  # the script alone ends the nodes: at once with the head, they would wait for it
            with suppress(psutil.TimeoutExpired):
                script.wait(END_SECONDS)
            with suppress(ProcessLookupError):
                os.killpg(script.pid, signal.SIGKILL)
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

    def _script(self) -> psutil.Process | None:
        """Return the process of the cluster's script, if it is running."""
        with suppress(OSError, ValueError, psutil.Error):
            script = psutil.Process(int((self.home / PROCESS).read_text(encoding="utf-8")))
            # The id may be another process's by now.
            return script if f"/{SCRIPT}" in " ".join(script.cmdline()) else None
        return None
