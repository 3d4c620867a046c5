"""Control of KubeRay's RayJobs by `kubectl`."""

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from rse_study.cluster.backend import CommandWords, NodeHours, Submission
from rse_study.cluster.job_report import JobReport, JobState
from rse_study.cluster.program import call, follow
from rse_study.errors import InputError

REMEDY = "Install kubectl, and give it access to the cluster (`kubectl config get-contexts`)"
TIMEOUT = "--request-timeout=30s"
STATES: dict[str, JobState] = {
    "PENDING": "waiting",
    "RUNNING": "running",
    "SUCCEEDED": "complete",
    "STOPPED": "stopped",
    "FAILED": "failed",
}
DEPLOYMENT_STATES: dict[str, JobState] = {"Complete": "complete", "Failed": "failed", "Suspended": "waiting"}
"""states of a RayJob without a job state: its cluster is not up yet, or never was"""


@dataclass(frozen=True)
class KubeRayBackend:
    """The RayJobs of one namespace."""

    namespace: str
    home: Path
    """local folder of the jobs' files"""
    context: str = ""
    """context in kubectl's configuration; empty: the current one"""
    reuses_ids = False

    def folder_of(self, submission_id: str) -> Path:
        return self.home / submission_id

    def jobs(self) -> list[JobReport]:
        items = json.loads(self._required(self._kubectl("get", "rayjobs.ray.io", "--output=json", TIMEOUT)))
        return [report_of(item) for item in items["items"]]

    def submission(self, submission: Submission) -> list[CommandWords]:
        # On the server: the client would copy the wheel into an annotation, which is too small.
        files = (f"--filename={submission.folder / file.name}" for file in submission.files)
        return [self._kubectl("apply", "--server-side", *files, TIMEOUT)]

    def submit(self, submission: Submission) -> str:
        for command in self.submission(submission):
            self._required(command)
        return submission.job.submission_id

    def show_log(self, report: JobReport, is_followed: bool) -> None:
        # The pod that submits the job and prints its output belongs to a Job with the RayJob's name.
        options = ("--follow", "--pod-running-timeout=10m") if is_followed else ()
        follow(self._kubectl("logs", f"job/{report.handle}", *options), remedy=REMEDY)

    def ending(self, reports: list[JobReport], is_last: bool) -> list[CommandWords]:
        kinds = ("rayjob.ray.io", "configmap")
        return [
            self._kubectl(
                "delete", *(f"{kind}/{report.handle}" for kind in kinds), "--ignore-not-found", "--wait=false"
            )
            for report in reports
        ]

    def end(self, reports: list[JobReport], is_last: bool) -> None:
        for command in self.ending(reports, is_last):
            self._required(command)

    def node_hours(self, reports: list[JobReport]) -> list[NodeHours]:
        num_nodes = sum(report.num_nodes for report in reports if report.is_active)
        hours = sum(report.num_nodes * report.hours for report in reports)
        return [NodeHours("", num_nodes, hours)] if reports else []

    def _kubectl(self, *words: str) -> CommandWords:
        context = (f"--context={self.context}",) if self.context else ()
        return ("kubectl", *context, f"--namespace={self.namespace}", *words)

    def _required(self, command: CommandWords) -> str:
        result = call(command, remedy=REMEDY)
        if result.code:
            raise InputError(f"kubectl: {result.complaint}", rule=_rule_of(result.complaint), remedy=REMEDY)
        return result.out


def _rule_of(complaint: str) -> str:
    if "doesn't have a resource type" in complaint or "no matches for kind" in complaint:
        return "the cluster has no KubeRay operator, which knows what a RayJob is"
    return "Kubernetes does not answer, or refused it"


def report_of(item: dict[str, Any]) -> JobReport:
    """Convert the status of a RayJob."""
    status = item.get("status") or {}
    native = status.get("jobStatus") or ""
    deployment = status.get("jobDeploymentStatus") or ""
    state = STATES.get(native) or DEPLOYMENT_STATES.get(deployment, "waiting")
    if deployment == "Failed":
        state = "failed"  # its time limit passed, or its cluster never started
    workers = (status.get("rayClusterStatus") or {}).get("availableWorkerReplicas") or 0
    name = item["metadata"]["name"]
    return JobReport(
        submission_id=name,
        handle=name,
        state=state,
        native=native or deployment or "new",
        num_nodes=workers + 1 if status.get("startTime") else 0,
        started=_seconds(status.get("startTime")),
        ended=_seconds(status.get("endTime")),
        reason=str(status.get("message") or status.get("reason") or ""),
    )


def _seconds(text: str | None) -> float | None:
    return datetime.fromisoformat(text).timestamp() if text else None
