"""A cluster of several nodes on this machine, started by a script."""

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from rse_study.cluster.job import Submission
from rse_study.cluster.job_report import JobReport
from rse_study.cluster.program import CommandWords, our_environment
from rse_study.cluster.ray_backend import RayBackend, RayJobs, token_hint
from rse_study.cluster.spec import ClusterSpec
from rse_study.cluster.template import FILES
from rse_study.errors import InputError
from rse_study.results.files.atomic import write_whole

SCRIPT, STATE, LOG = FILES["local"], "cluster.json", "cluster.log"
START_SECONDS = 180.0
END_SECONDS = 60.0  # nodes that are busy take 30 s


@dataclass(frozen=True)
class LocalBackend(RayBackend):
    """A cluster on this machine, from `cluster submit` to `cluster down`."""

    spec: ClusterSpec

    def is_up(self) -> bool:
        return self._script() is not None and self._jobs().answers()

    def dashboard(self, report: JobReport) -> str:
        return f"{self._jobs().address}, {token_hint()}" if self._script() else ""

    def ray(self) -> AbstractContextManager[RayJobs]:
        return nullcontext(self._jobs())

    def submission(self, submission: Submission) -> list[CommandWords]:
        return [("bash", str(submission.folder / SCRIPT)), self._jobs().submission(submission)]

    def ending(self, reports: list[JobReport], is_last: bool) -> list[CommandWords]:
        script = self._script() if is_last else None
        return [*self._jobs().stopping(reports), *([("kill", str(script.pid))] if script else [])]

    def end(self, reports: list[JobReport], is_last: bool) -> None:
        self._jobs().stop(reports)
        if is_last:
            self._end_script()

    def start(self, submission: Submission) -> None:
        self._end_script()  # one that no longer answers
        log, (port, dashboard_port) = self.home / LOG, free_ports(2)
        folder = tempfile.mkdtemp(prefix="rse-", dir="/tmp")  # a short path: Ray's sockets lie below it
        told = {
            "RSE_STUDY_PORT": port,
            "RSE_STUDY_DASHBOARD_PORT": dashboard_port,
            "RSE_STUDY_FOLDER": folder,
        }
        with log.open("w", encoding="utf-8") as output:
            process = subprocess.Popen(
                ["bash", str(submission.folder / SCRIPT)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=our_environment() | {name: str(value) for name, value in told.items()},
            )
        state = {"pid": process.pid, "dashboard_port": dashboard_port, "folder": folder}
        write_whole(self.home / STATE, json.dumps(state) + "\n")
        if not self._jobs().answers_within(START_SECONDS, process):
            self._end_script()
            remedy = f"The output of its processes is in {log}"
            raise InputError("the cluster did not start", where=self.spec.name, remedy=remedy)

    def _jobs(self) -> RayJobs:
        port = self._state().get("dashboard_port", "PORT")  # a free one, once it is started
        return RayJobs(f"http://127.0.0.1:{port}", is_on_this_machine=True)

    def _state(self) -> dict[str, Any]:
        with suppress(OSError, ValueError):
            return dict(json.loads((self.home / STATE).read_text(encoding="utf-8")))
        return {}

    def _script(self) -> psutil.Process | None:
        """Return the process of the cluster's script, if it is running."""
        with suppress(KeyError, psutil.Error):
            script = psutil.Process(self._state()["pid"])
            # The id may be another process's by now.
            return script if f"/{SCRIPT}" in " ".join(script.cmdline()) else None
        return None

    def _end_script(self) -> None:
        """End what `start` began, and remove its folder."""
        if script := self._script():
            script.terminate()  # the script alone ends the nodes: at once with the head, they would wait for it
            with suppress(psutil.TimeoutExpired):
                script.wait(END_SECONDS)
            with suppress(ProcessLookupError):
                os.killpg(script.pid, signal.SIGKILL)
        if folder := self._state().get("folder"):
            shutil.rmtree(Path(folder), ignore_errors=True)
        (self.home / STATE).unlink(missing_ok=True)


def free_ports(num: int) -> list[int]:
    """Return ports of this machine at which nobody listens."""
    with ExitStack() as stack:
        listeners = [stack.enter_context(socket.socket()) for _ in range(num)]
        for listener in listeners:
            listener.bind(("127.0.0.1", 0))
        return [int(listener.getsockname()[1]) for listener in listeners]
