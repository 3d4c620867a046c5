"""Jobs of a running Ray cluster: its dashboard's JSON, and `ray job`."""

import io
import json
import os
import shlex
import shutil
import subprocess
import time
import urllib.error
import urllib.request
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rse_study.cluster.backend import CommandWords, call, complaint, our_environment
from rse_study.cluster.job import Job, copy_files
from rse_study.cluster.job_report import RAY_STATES, JobReport
from rse_study.cluster.spec import STUDY_FILE
from rse_study.errors import InputError

REMEDY = "Ray's command `ray` comes with this package: activate its environment"
CODE = "code"
NOT_READY = ("No available agent", "Failed to connect to Ray at address")
"""messages of a head that starts, or that a busy machine makes start again"""
AGENT_SECONDS, AGENT_PAUSE_SECONDS = 60.0, 2.0
SECONDS, PAUSE_SECONDS = 20.0, 0.5
TOKEN = "~/.ray/auth_token"
"""used unless RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH is set, as in Ray"""
REFUSED = (401, 403)


class NoAnswer(InputError):
    """No server responds at an address."""


def token_hint() -> str:
    """Return where the token is that a dashboard asks for."""
    if "RAY_AUTH_TOKEN" in os.environ:
        return "which asks for the token in RAY_AUTH_TOKEN"
    return f"which asks for the token: cat {os.environ.get('RAY_AUTH_TOKEN_PATH') or TOKEN}"


def ray_environment() -> dict[str, str]:
    """Return the environment of `ray`, which asks for a token."""
    path = {} if "RAY_AUTH_TOKEN" in os.environ else {"RAY_AUTH_TOKEN_PATH": str(Path(TOKEN).expanduser())}
    # Otherwise Ray colours its output and asks its own server for newer versions.
    return path | {"RAY_AUTH_MODE": "token", "RAY_USAGE_STATS_ENABLED": "0"} | our_environment()


@dataclass(frozen=True)
class RayJobs:
    """The jobs of one Ray cluster, by the address of its dashboard."""

    address: str
    is_on_this_machine: bool = False
    """whether to send no files: nodes that share the job's folder would delete each other's"""

    def reports(self) -> list[JobReport]:
        # `ray job list` prints Python objects.
        return [_report(job) for job in self._get("/api/jobs/") if job.get("submission_id")]

    def answers(self) -> bool:
        """Whether a server responds at the address, even with an error."""
        try:
            self._get("/api/version")
        except InputError as error:
            return not isinstance(error, NoAnswer)
        return True

    def answers_within(self, seconds: float, process: subprocess.Popen[Any]) -> bool:
        """Wait until a server responds; False if time is up or its process has ended."""
        until = time.monotonic() + seconds
        while not self.answers():
            if process.poll() is not None or time.monotonic() > until:
                return False
            time.sleep(PAUSE_SECONDS)
        return True

    def submission(self, job: Job, folder: Path) -> CommandWords:
        """Return the command that submits a job, which Ray runs on the head."""
        code = str(folder / CODE)
        where = ("--address", self.address, "--submission-id", job.submission_id)
        words = ("ray", "job", "submit", *where, "--no-wait")
        # `python -m`: a node may have the code but not the script.
        command = ("python", "-m", "rse_study", "run", STUDY_FILE, *job.options)
        if not self.is_on_this_machine:
            return (*words, "--working-dir", code, "--", *command)
        environment = json.dumps({"env_vars": {"PYTHONPATH": code}})
        line = f"cd {shlex.quote(code)} && exec {shlex.join(command)}"
        return (*words, "--runtime-env-json", environment, "--", "bash", "-c", line)

    def submit(self, job: Job, folder: Path) -> str:
        """Submit a job with study and code, which is on Python's path, from its folder."""
        code = folder / CODE
        shutil.rmtree(code, ignore_errors=True)
        with zipfile.ZipFile(io.BytesIO(job.wheel.content)) as wheel:
            wheel.extractall(code)
        copy_files(job, code)
        (code / STUDY_FILE).write_text(job.study_yaml, encoding="utf-8")
        self._required(self.submission(job, folder))
        return job.submission_id

    def show_log(self, submission_id: str, is_followed: bool) -> None:
        options = ("--log-color=false", *(("--follow",) if is_followed else ()))
        call(self._job("logs", submission_id, *options), remedy=REMEDY, env=ray_environment(), is_shown=True)

    def stopping(self, reports: list[JobReport]) -> list[CommandWords]:
        return [self._job("stop", report.submission_id) for report in reports if report.is_active]

    def stop(self, reports: list[JobReport]) -> None:
        for command in self.stopping(reports):
            self._required(command)

    def _job(self, verb: str, submission_id: str, *options: str) -> CommandWords:
        return ("ray", "job", verb, "--address", self.address, *options, submission_id)

    def _required(self, command: CommandWords) -> None:
        until = time.monotonic() + AGENT_SECONDS
        while (result := call(command, remedy=REMEDY, env=ray_environment())).returncode:
            said = complaint(result)
            if time.monotonic() > until or not any(message in said for message in NOT_READY):
                raise InputError(f"ray job: {said}", where=self.address)
            time.sleep(AGENT_PAUSE_SECONDS)

    def _get(self, path: str) -> Any:
        token, source = _token()
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        request = urllib.request.Request(f"{self.address}{path}", headers=headers)
        # Without the environment's proxy, which cannot resolve a cluster's hosts.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=SECONDS) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            what, rule, remedy = f"{path}: HTTP {error.code}", "this is not a Ray dashboard", ""
            if error.code in REFUSED:
                what = f"the cluster refuses the token in {source}" if token else f"no token in {source}"
                rule = "a cluster lets in whoever has its token"
                remedy = (
                    "Copy the file that the head has (~/.ray/auth_token), or name it in RAY_AUTH_TOKEN_PATH"
                )
            raise InputError(what, where=self.address, rule=rule, remedy=remedy) from None
        except (OSError, ValueError) as error:
            what = f"no Ray cluster answers ({getattr(error, 'reason', error)})"
            remedy = (
                "Is the cluster up, and this its dashboard? `rse-study cluster status` says what was started"
            )
            raise NoAnswer(what, where=self.address, remedy=remedy) from None


def _token() -> tuple[str, str]:
    """Return the token, empty if there is none, and where it comes from."""
    if given := os.environ.get("RAY_AUTH_TOKEN"):
        return given, "RAY_AUTH_TOKEN"
    file = Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or TOKEN).expanduser()
    return file.read_text(encoding="utf-8").strip() if file.is_file() else "", str(file)


def _report(job: dict[str, Any]) -> JobReport:
    name, state = job["submission_id"], RAY_STATES.get(job["status"], "failed")
    times = [job[key] / 1000 if job.get(key) else None for key in ("start_time", "end_time")]
    said = str(job.get("message") or "").strip() if state == "failed" else ""
    reason = said.partition("\n")[0].partition(", last available logs")[0]
    return JobReport(name, name, state, job["status"], *times, reason)
