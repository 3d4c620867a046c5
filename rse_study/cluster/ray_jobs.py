"""Requests to a running Ray cluster: to its dashboard, and by `ray job`."""

import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from rse_study.cluster.backend import CommandWords, call, complaint, our_environment
from rse_study.cluster.job import RAY_STATES, JobReport
from rse_study.errors import InputError

REMEDY = "Ray's command `ray` comes with this package: activate its environment"
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


def ask_ray(command: CommandWords) -> None:
    """Run a `ray job`, again while a head starts; InputError if Ray refuses it."""
    until = time.monotonic() + AGENT_SECONDS
    while (result := call(command, remedy=REMEDY, env=ray_environment())).returncode:
        said = complaint(result)
        if time.monotonic() > until or not any(message in said for message in NOT_READY):
            address = command[command.index("--address") + 1]
            raise InputError(f"ray job: {said}", where=address)
        time.sleep(AGENT_PAUSE_SECONDS)


def answers(address: str) -> bool:
    """Whether a server responds at an address, even with an error."""
    try:
        _get(address, "/api/version")
    except InputError as error:
        return not isinstance(error, NoAnswer)
    return True


def answers_within(address: str, seconds: float, process: "subprocess.Popen[bytes]") -> bool:
    """Wait until a server responds; False if time is up or its process has ended."""
    until = time.monotonic() + seconds
    while not answers(address):
        if process.poll() is not None or time.monotonic() > until:
            return False
        time.sleep(PAUSE_SECONDS)
    return True


def reports_at(address: str) -> list[JobReport]:
    """Return the jobs of a cluster: `ray job list` prints Python objects."""
    return [_report(job) for job in _get(address, "/api/jobs/") if job.get("submission_id")]


def _report(job: dict[str, Any]) -> JobReport:
    name, state = job["submission_id"], RAY_STATES.get(job["status"], "failed")
    started, ended = (job[key] / 1000 if job.get(key) else None for key in ("start_time", "end_time"))
    said = str(job.get("message") or "").strip() if state == "failed" else ""
    reason = said.partition("\n")[0].partition(", last available logs")[0]
    return JobReport(name, name, state, job["status"], started, ended, reason)


def _get(address: str, path: str) -> Any:
    token, source = _token()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(f"{address}{path}", headers=headers)
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
            remedy = "Copy the file that the head has (~/.ray/auth_token), or name it in RAY_AUTH_TOKEN_PATH"
        raise InputError(what, where=address, rule=rule, remedy=remedy) from None
    except (OSError, ValueError) as error:
        what = f"no Ray cluster answers ({getattr(error, 'reason', error)})"
        remedy = "Is the cluster up, and this its dashboard? `rse-study cluster status` says what was started"
        raise NoAnswer(what, where=address, remedy=remedy) from None


def _token() -> tuple[str, str]:
    """Return the token, empty if there is none, and where it comes from."""
    if given := os.environ.get("RAY_AUTH_TOKEN"):
        return given, "RAY_AUTH_TOKEN"
    file = Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or TOKEN).expanduser()
    return file.read_text(encoding="utf-8").strip() if file.is_file() else "", str(file)
