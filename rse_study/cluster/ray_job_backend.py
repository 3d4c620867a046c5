"""Jobs of a running Ray cluster: `ray job submit`, `logs`, `stop`."""

import io
import json
import shlex
import shutil
import time
import zipfile
from abc import abstractmethod
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from rse_study.cluster.backend import Backend, CommandWords, NodeHours, Submission
from rse_study.cluster.job import STUDY_FILE, copy_files
from rse_study.cluster.job_report import RAY_STATES, JobReport
from rse_study.cluster.program import call, follow
from rse_study.cluster.ray_dashboard import RayDashboard
from rse_study.errors import InputError

REMEDY = "Ray's command `ray` comes with this package: activate its environment"
CODE = "code"
NO_AGENT = "No available agent"
"""message of a head that responds before its nodes can take jobs"""
AGENT_SECONDS, AGENT_PAUSE_SECONDS = 60.0, 2.0
GROUP_LABEL = "ray.io/node-group"
"""label by which Ray's autoscaler and KubeRay give a node's kind"""


@dataclass(frozen=True)
class RayJobs:
    """The jobs of one Ray cluster."""

    dashboard: RayDashboard
    is_on_this_machine: bool = False
    """whether to send no files: nodes that share the job's folder would delete each other's"""

    def reports(self) -> list[JobReport]:
        num_nodes = sum(node["state"] == "ALIVE" for node in self.dashboard.nodes())
        return [_report(job, num_nodes) for job in self.dashboard.jobs() if job.get("submission_id")]

    def submission(self, submission: Submission) -> CommandWords:
        """Return the command that submits a job, which Ray runs on the head."""
        job, code = submission.job, str(submission.folder / CODE)
        where = ("--address", self.dashboard.address, "--submission-id", job.submission_id)
        words = ("ray", "job", "submit", *where, "--no-wait")
        # `python -m`: a node may have the code but not the script.
        command = ("python", "-m", "rse_study", "run", STUDY_FILE, *job.options)
        if not self.is_on_this_machine:
            return (*words, "--working-dir", code, "--", *command)
        environment = json.dumps({"env_vars": {"PYTHONPATH": code}})
        line = f"cd {shlex.quote(code)} && exec {shlex.join(command)}"
        return (*words, "--runtime-env-json", environment, "--", "bash", "-c", line)

    def submit(self, submission: Submission) -> str:
        write_code(submission)
        self._required(self.submission(submission))
        return submission.job.submission_id

    def show_log(self, submission_id: str, is_followed: bool) -> None:
        options = ("--follow",) if is_followed else ()
        command = self._job("logs", submission_id, "--log-color=false", *options)
        follow(command, remedy=REMEDY, env=self.dashboard.env)

    def stopping(self, reports: list[JobReport]) -> list[CommandWords]:
        return [self._job("stop", report.submission_id) for report in reports if report.is_active]

    def stop(self, reports: list[JobReport]) -> None:
        for command in self.stopping(reports):
            self._required(command)

    def node_hours(self, now: float) -> list[NodeHours]:
        """Return the uptime of all nodes so far, by kind."""
        spans: dict[str, list[tuple[bool, float]]] = {}
        for node in self.dashboard.nodes():
            group = "head" if node["is_head_node"] else node.get("labels", {}).get(GROUP_LABEL, "")
            ended = node["end_time_ms"] / 1000 if node["end_time_ms"] else now
            spans.setdefault(group, []).append(
                (node["state"] == "ALIVE", ended - node["start_time_ms"] / 1000)
            )
        return [
            NodeHours(group, sum(alive for alive, _ in nodes), sum(seconds for _, seconds in nodes) / 3600)
            for group, nodes in spans.items()
        ]

    def _job(self, verb: str, submission_id: str, *options: str) -> CommandWords:
        return ("ray", "job", verb, "--address", self.dashboard.address, *options, submission_id)

    def _required(self, command: CommandWords) -> None:
        until = time.monotonic() + AGENT_SECONDS
        while (result := call(command, remedy=REMEDY, env=self.dashboard.env)).code:
            if NO_AGENT not in result.complaint or time.monotonic() > until:
                raise InputError(f"ray job: {result.complaint}", where=self.dashboard.address)
            time.sleep(AGENT_PAUSE_SECONDS)


def write_code(submission: Submission) -> None:
    """Unpack the wheel beside the study; Ray puts the folder on Python's path."""
    folder = submission.folder / CODE
    shutil.rmtree(folder, ignore_errors=True)
    with zipfile.ZipFile(io.BytesIO(submission.job.wheel.content)) as wheel:
        wheel.extractall(folder)
    copy_files(submission.job, folder)
    (folder / STUDY_FILE).write_text(submission.job.study_yaml, encoding="utf-8")


def _report(job: dict[str, Any], num_nodes: int) -> JobReport:
    state = RAY_STATES.get(job["status"], "failed")
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
        reason=message[0].partition(", last available logs")[0] if message and state == "failed" else "",
    )


class RayBackend(Backend):
    """A Ray cluster that outlives its jobs."""

    @abstractmethod
    def is_up(self) -> bool:
        """Whether the cluster was started and takes jobs."""

    @abstractmethod
    def start(self, submission: Submission) -> None:
        """Start the cluster, and wait until it takes jobs."""

    @abstractmethod
    def ray(self) -> AbstractContextManager[RayJobs]:
        """Return its jobs, within reach for the duration of the context."""

    def jobs(self) -> list[JobReport]:
        if not self.is_up():
            return []
        with self.ray() as ray:
            return ray.reports()

    def submit(self, submission: Submission) -> str:
        if not self.is_up():
            self.start(submission)
        with self.ray() as ray:
            return ray.submit(submission)

    def show_log(self, report: JobReport, is_followed: bool) -> None:
        with self.ray() as ray:
            ray.show_log(report.submission_id, is_followed)

    def node_hours(self, reports: list[JobReport]) -> list[NodeHours]:
        if not self.is_up():
            return []
        with self.ray() as ray:
            return ray.node_hours(time.time())
