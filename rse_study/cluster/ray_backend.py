"""Ray clusters that outlive their jobs: by `ray up`, or a script on this machine."""

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from shlex import join
from typing import Any

import psutil

from rse_study.cluster.backend import Backend, CommandWords, call, complaint, our_environment
from rse_study.cluster.job import Job
from rse_study.cluster.job_report import JobReport
from rse_study.cluster.ray_jobs import REMEDY, RayJobs, ray_environment, token_hint
from rse_study.cluster.spec import ClusterSpec
from rse_study.cluster.template import FILES
from rse_study.errors import InputError
from rse_study.results.files.atomic import write_whole

DASHBOARD_PORT, TUNNEL_SECONDS = 8265, 60.0
NO_HEAD = "Head node of cluster"
"""Ray's message without a head; only then may a cluster be started"""
STATE, LOG = "cluster.json", "cluster.log"
START_SECONDS, END_SECONDS = 180.0, 60.0  # nodes that are busy take 30 s to end


@dataclass(frozen=True)
class RayBackend(Backend):
    """A Ray cluster from `cluster submit` to `cluster down`."""

    spec: ClusterSpec

    @abstractmethod
    def is_up(self) -> bool:
        """Whether the cluster was started and takes jobs."""

    @abstractmethod
    def start(self, job: Job) -> None:
        """Start the cluster, and wait until it takes jobs."""

    @abstractmethod
    def ray(self) -> AbstractContextManager[RayJobs]:
        """Return its jobs, within reach for the duration of the context."""

    def jobs(self) -> list[JobReport]:
        if not self.is_up():
            return []
        with self.ray() as ray:
            return ray.reports()

    def submit(self, job: Job) -> str:
        if not self.is_up():
            self.start(job)
        with self.ray() as ray:
            return ray.submit(job, self.folder_of(job.submission_id))

    def show_log(self, report: JobReport, is_followed: bool) -> None:
        with self.ray() as ray:
            ray.show_log(report.submission_id, is_followed)

    def script_of(self, job: Job) -> Path:
        """Return a job's rendered template."""
        return self.folder_of(job.submission_id) / FILES[self.spec.kind]

    def _error(self, what: str, rule: str = "", remedy: str = "") -> InputError:
        return InputError(what, where=self.spec.name, rule=rule, remedy=remedy)


class LauncherBackend(RayBackend):
    """A cluster of Ray's launcher; its dashboard is reached through an ssh tunnel."""

    @property
    def configuration(self) -> Path:
        """The file passed to `ray up`; missing if no cluster was started."""
        return self.home / FILES["launcher"]

    def dashboard(self, report: JobReport) -> str:
        address = f"http://127.0.0.1:{DASHBOARD_PORT}"
        is_there = self.configuration.is_file()
        return f"{join(self._tunnel(DASHBOARD_PORT))}, then {address}, {token_hint()}" if is_there else ""

    def submission(self, job: Job) -> list[CommandWords]:
        submitting = _ray_at(DASHBOARD_PORT).submission(job, self.folder_of(job.submission_id))
        return [self._up(), self._tunnel(DASHBOARD_PORT), submitting]

    def ending(self, reports: list[JobReport], is_last: bool) -> list[CommandWords]:
        if is_last and self.configuration.is_file():
            return [("ray", "down", "--yes", str(self.configuration))]
        stopping = _ray_at(DASHBOARD_PORT).stopping(reports)
        return [self._tunnel(DASHBOARD_PORT), *stopping] if stopping else []

    def end(self, reports: list[JobReport], is_last: bool) -> None:
        if not is_last:
            with self.ray() as ray:
                ray.stop(reports)
            return
        for command in self.ending(reports, is_last):
            if call(command, remedy=REMEDY, folder=self.home, is_shown=True).returncode:
                remedy = "Check your provider's console: running machines still cost money"
                raise self._error("the cluster was not ended", remedy=remedy)
            self.configuration.unlink()

    def start(self, job: Job) -> None:
        write_whole(
            self.home / job.wheel.name, job.wheel.content
        )  # the configuration names it without a folder
        write_whole(self.configuration, self.script_of(job).read_bytes())
        up = call(self._up(), remedy=REMEDY, folder=self.home, env=ray_environment(), is_shown=True)
        if up.returncode:
            rule, remedy = "Ray's launcher says above why", "`rse-study cluster down` ends what it started"
            raise self._error("the cluster did not start", rule, remedy)

    def _up(self) -> CommandWords:
        return ("ray", "up", "--yes", str(self.configuration))

    def is_up(self) -> bool:
        """Whether there is a head; if so, do not call `ray up`, which would restart Ray."""
        if not self.configuration.is_file():
            return False
        result = call(("ray", "get-head-ip", str(self.configuration)), remedy=REMEDY, folder=self.home)
        if result.returncode and NO_HEAD not in result.stderr + result.stdout:
            remedy = f"`ray get-head-ip {self.configuration}` shows more"
            raise self._error(f"its state is unknown: {complaint(result)}", remedy=remedy)
        return result.returncode == 0

    def _tunnel(self, port: int) -> CommandWords:
        return ("ray", "dashboard", "--port", str(port), str(self.configuration))

    @contextmanager
    def ray(self) -> Iterator[RayJobs]:
        """Open a tunnel to the dashboard for the duration of the context."""
        (port,) = free_ports(1)
        ray, tunnel = _ray_at(port), _started(self._tunnel(port), subprocess.DEVNULL, folder=self.home)
        try:
            if not ray.answers_within(TUNNEL_SECONDS, tunnel):
                remedy = f"`ray attach {self.configuration}` shows what is wrong with the head"
                raise self._error("its dashboard cannot be reached", remedy=remedy)
            yield ray
        finally:
            with suppress(ProcessLookupError):
                os.killpg(tunnel.pid, signal.SIGTERM)  # Ray's program and its ssh
            tunnel.wait()


def _ray_at(port: int) -> RayJobs:
    return RayJobs(f"http://127.0.0.1:{port}")


class LocalBackend(RayBackend):
    """Several nodes on this machine, started by a script."""

    def is_up(self) -> bool:
        return self._script() is not None and self._jobs().answers()

    def dashboard(self, report: JobReport) -> str:
        return f"{self._jobs().address}, {token_hint()}" if self._script() else ""

    def ray(self) -> AbstractContextManager[RayJobs]:
        return nullcontext(self._jobs())

    def submission(self, job: Job) -> list[CommandWords]:
        submitting = self._jobs().submission(job, self.folder_of(job.submission_id))
        return [("bash", str(self.script_of(job))), submitting]

    def ending(self, reports: list[JobReport], is_last: bool) -> list[CommandWords]:
        script = self._script() if is_last else None
        return [*self._jobs().stopping(reports), *([("kill", str(script.pid))] if script else [])]

    def end(self, reports: list[JobReport], is_last: bool) -> None:
        self._jobs().stop(reports)
        if is_last:
            self._end_script()

    def start(self, job: Job) -> None:
        self._end_script()  # one that no longer answers
        log, (port, dashboard_port) = self.home / LOG, free_ports(2)
        folder = tempfile.mkdtemp(prefix="rse-", dir="/tmp")  # a short path: Ray's sockets lie below it
        told = {
            "RSE_STUDY_PORT": str(port),
            "RSE_STUDY_DASHBOARD_PORT": str(dashboard_port),
            "RSE_STUDY_FOLDER": folder,
        }
        with log.open("w", encoding="utf-8") as output:
            process = _started(("bash", str(self.script_of(job))), output, env=told)
        state = {"pid": process.pid, "dashboard_port": dashboard_port, "folder": folder}
        write_whole(self.home / STATE, json.dumps(state) + "\n")
        if not self._jobs().answers_within(START_SECONDS, process):
            self._end_script()
            raise self._error("the cluster did not start", remedy=f"The output of its processes is in {log}")

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
            return script if f"/{FILES['local']}" in " ".join(script.cmdline()) else None
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


def _started(
    command: CommandWords, output: Any, folder: Path | None = None, env: dict[str, str] | None = None
) -> "subprocess.Popen[bytes]":
    """Start a program in a group of its own, with its output in a file."""
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        cwd=folder,
        env=our_environment() | (env or {}),
    )


def free_ports(num: int) -> list[int]:
    """Return ports of this machine at which nobody listens."""
    with ExitStack() as stack:
        listeners = [stack.enter_context(socket.socket()) for _ in range(num)]
        for listener in listeners:
            listener.bind(("127.0.0.1", 0))
        return [int(listener.getsockname()[1]) for listener in listeners]
