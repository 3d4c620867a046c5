"""Ray clusters that outlive their jobs: by `ray up`, or a script on this machine."""

import io
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import zipfile
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from shlex import join, quote
from typing import Any

import psutil

from rse_study.cluster import ray_jobs
from rse_study.cluster.backend import Backend, CommandWords, call, complaint, our_environment
from rse_study.cluster.job import Job, JobReport
from rse_study.cluster.spec import STUDY_FILE
from rse_study.cluster.template import FILES
from rse_study.errors import InputError
from rse_study.results.files.atomic import write_whole

TUNNEL, TUNNEL_SECONDS = "http://127.0.0.1:8265", 60.0
"""address of a dashboard, as its commands are shown"""
NO_HEAD = "Head node of cluster"
"""Ray's message without a head; only then may a cluster be started"""
STATE, LOG = "cluster.json", "cluster.log"
START_SECONDS, END_SECONDS = 180.0, 60.0  # nodes that are busy take 30 s to end


class RayBackend(Backend):
    """A Ray cluster from `cluster submit` to `cluster down`, by its dashboard."""

    @abstractmethod
    def is_up(self) -> bool:
        """Whether the cluster was started and takes jobs."""

    @abstractmethod
    def start(self, script: Path, job: Job) -> None:
        """Start the cluster by a job's template, and wait until it takes jobs."""

    @abstractmethod
    def reached(self) -> AbstractContextManager[str]:
        """Return the address of its dashboard, within reach until the context ends."""

    @abstractmethod
    def command(self, code: Path, job: Job) -> tuple[str, ...]:
        """Return the end of `ray job submit`: the folder of the code, and what runs in it."""

    def jobs(self) -> list[JobReport]:
        if not self.is_up():
            return []
        with self.reached() as address:
            return ray_jobs.reports_at(address)

    def submit(self, job: Job) -> str:
        folder = self.folder_of(job.submission_id)
        if not self.is_up():
            self.start(folder / FILES[self.spec.kind], job)
        shutil.rmtree(folder / "code", ignore_errors=True)
        zipfile.ZipFile(io.BytesIO(job.wheel.content)).extractall(folder / "code")
        job.copy_files(folder / "code")
        (folder / "code" / STUDY_FILE).write_text(job.study_yaml, encoding="utf-8")
        with self.reached() as address:
            ray_jobs.ask_ray(self.submitting(address, job))
        return job.submission_id

    def submitting(self, address: str, job: Job) -> CommandWords:
        """Return the command that submits a job, which Ray runs on the head."""
        words = ("ray", "job", "submit", "--address", address, "--submission-id", job.submission_id)
        return (*words, "--no-wait", *self.command(self.folder_of(job.submission_id) / "code", job))

    def show_log(self, report: JobReport, is_followed: bool) -> None:
        options = ("--log-color=false", *(("--follow",) if is_followed else ()))
        with self.reached() as address:
            command = _on_job(address, "logs", report, *options)
            call(command, remedy=ray_jobs.REMEDY, env=ray_jobs.ray_environment(), is_shown=True)

    def stop(self, reports: list[JobReport]) -> None:
        """Stop jobs, and not the cluster."""
        with self.reached() as address:
            for command in _stopping(address, reports):
                ray_jobs.ask_ray(command)

    def _error(self, what: str, rule: str = "", remedy: str = "") -> InputError:
        return InputError(what, where=self.spec.name, rule=rule, remedy=remedy)


def _on_job(address: str, verb: str, report: JobReport, *options: str) -> CommandWords:
    return ("ray", "job", verb, "--address", address, *options, report.submission_id)


def _stopping(address: str, reports: list[JobReport]) -> list[CommandWords]:
    return [_on_job(address, "stop", report) for report in reports if report.is_active]


def _run_words(job: Job) -> tuple[str, ...]:
    # `python -m`: a node may have the code but not the script.
    return ("python", "-m", "rse_study", "run", STUDY_FILE, *job.options)


class LauncherBackend(RayBackend):
    """A cluster of Ray's launcher; its dashboard is reached through an ssh tunnel."""

    @property
    def configuration(self) -> Path:
        """The file passed to `ray up`; missing if no cluster was started."""
        return self.home / FILES["launcher"]

    def dashboard(self, report: JobReport) -> str:
        is_there = self.configuration.is_file()
        return f"{join(self._tunnel(8265))}, then {TUNNEL}, {ray_jobs.token_hint()}" if is_there else ""

    def command(self, code: Path, job: Job) -> tuple[str, ...]:
        return ("--working-dir", str(code), "--", *_run_words(job))

    def submission(self, job: Job) -> list[CommandWords]:
        return [self._ray("up", "--yes"), self._tunnel(8265), self.submitting(TUNNEL, job)]

    def ending(self, reports: list[JobReport], is_last: bool) -> list[CommandWords]:
        if is_last and self.configuration.is_file():
            return [self._ray("down", "--yes")]
        stopping = _stopping(TUNNEL, reports)
        return [self._tunnel(8265), *stopping] if stopping else []

    def end(self, reports: list[JobReport], is_last: bool) -> None:
        if not is_last:
            self.stop(reports)
            return
        for command in self.ending(reports, is_last):
            if call(command, remedy=ray_jobs.REMEDY, cwd=self.home, is_shown=True).returncode:
                remedy = "Check your provider's console: running machines still cost money"
                raise self._error("the cluster was not ended", remedy=remedy)
            self.configuration.unlink()

    def start(self, script: Path, job: Job) -> None:
        write_whole(self.home / job.wheel.name, job.wheel.content)  # which its file names without a folder
        write_whole(self.configuration, script.read_bytes())
        how: dict[str, Any] = {"cwd": self.home, "env": ray_jobs.ray_environment(), "is_shown": True}
        if call(self._ray("up", "--yes"), remedy=ray_jobs.REMEDY, **how).returncode:
            rule, remedy = "Ray's launcher says above why", "`rse-study cluster down` ends what it started"
            raise self._error("the cluster did not start", rule, remedy)

    def is_up(self) -> bool:
        """Whether there is a head; if so, do not call `ray up`, which would restart Ray."""
        if not self.configuration.is_file():
            return False
        result = call(self._ray("get-head-ip"), remedy=ray_jobs.REMEDY, cwd=self.home)
        if result.returncode and NO_HEAD not in result.stderr + result.stdout:
            remedy = f"`{join(self._ray('get-head-ip'))}` shows more"
            raise self._error(f"its state is unknown: {complaint(result)}", remedy=remedy)
        return result.returncode == 0

    def _ray(self, *words: str) -> CommandWords:
        return ("ray", *words, str(self.configuration))

    def _tunnel(self, port: int) -> CommandWords:
        return self._ray("dashboard", "--port", str(port))

    @contextmanager
    def reached(self) -> Iterator[str]:
        """Open a tunnel to the dashboard for the duration of the context."""
        (port,) = free_ports(1)
        address = f"http://127.0.0.1:{port}"
        tunnel = _started(self._tunnel(port), stdout=subprocess.DEVNULL, cwd=self.home)
        try:
            if not ray_jobs.answers_within(address, TUNNEL_SECONDS, tunnel):
                remedy = f"`{join(self._ray('attach'))}` shows what is wrong with the head"
                raise self._error("its dashboard cannot be reached", remedy=remedy)
            yield address
        finally:
            with suppress(ProcessLookupError):
                os.killpg(tunnel.pid, signal.SIGTERM)  # Ray's program and its ssh
            tunnel.wait()


class LocalBackend(RayBackend):
    """Several nodes on this machine, started by a script."""

    def is_up(self) -> bool:
        return self._script() is not None and ray_jobs.answers(self._address())

    def dashboard(self, report: JobReport) -> str:
        return f"{self._address()}, {ray_jobs.token_hint()}" if self._script() else ""

    def reached(self) -> AbstractContextManager[str]:
        return nullcontext(self._address())

    def command(self, code: Path, job: Job) -> tuple[str, ...]:
        # No files are sent: nodes that share the job's folder would delete each other's.
        environment = json.dumps({"env_vars": {"PYTHONPATH": str(code)}})
        line = f"cd {quote(str(code))} && exec {join(_run_words(job))}"
        return ("--runtime-env-json", environment, "--", "bash", "-c", line)

    def submission(self, job: Job) -> list[CommandWords]:
        script = self.folder_of(job.submission_id) / FILES["local"]
        return [("bash", str(script)), self.submitting(self._address(), job)]

    def ending(self, reports: list[JobReport], is_last: bool) -> list[CommandWords]:
        script = self._script() if is_last else None
        return [*_stopping(self._address(), reports), *([("kill", str(script.pid))] if script else [])]

    def end(self, reports: list[JobReport], is_last: bool) -> None:
        self.stop(reports)
        if is_last:
            self._end_script()

    def start(self, script: Path, job: Job) -> None:
        self._end_script()  # one that no longer answers
        log, (port, dashboard_port) = self.home / LOG, free_ports(2)
        folder = tempfile.mkdtemp(prefix="rse-", dir="/tmp")  # a short path: Ray's sockets lie below it
        told = {"PORT": str(port), "DASHBOARD_PORT": str(dashboard_port), "FOLDER": folder}
        env = our_environment() | {f"RSE_STUDY_{name}": value for name, value in told.items()}
        with log.open("w", encoding="utf-8") as output:
            process = _started(("bash", str(script)), stdout=output, env=env)
        state = {"pid": process.pid, "dashboard_port": dashboard_port, "folder": folder}
        write_whole(self.home / STATE, json.dumps(state) + "\n")
        if not ray_jobs.answers_within(self._address(), START_SECONDS, process):
            self._end_script()
            raise self._error("the cluster did not start", remedy=f"The output of its processes is in {log}")

    def _address(self) -> str:
        return f"http://127.0.0.1:{self._state().get('dashboard_port', 'PORT')}"  # a free one, once it is started

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


def _started(command: CommandWords, **how: Any) -> "subprocess.Popen[Any]":
    """Start a program in a group of its own."""
    quiet = {"stdin": subprocess.DEVNULL, "stderr": subprocess.STDOUT, "start_new_session": True}
    return subprocess.Popen(command, **{"env": our_environment()} | quiet | how)


def free_ports(num: int) -> list[int]:
    """Return ports of this machine at which nobody listens."""
    with ExitStack() as stack:
        listeners = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(num)]
        return [int(listener.getsockname()[1]) for listener in listeners]
