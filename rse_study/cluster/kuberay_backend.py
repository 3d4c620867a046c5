"""Control of KubeRay's RayJobs by `kubectl`."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rse_study.cluster.backend import BatchBackend, CommandWords, Submission
from rse_study.cluster.job_report import RAY_STATES, JobReport, JobState
from rse_study.cluster.program import call, follow
from rse_study.errors import InputError

REMEDY = "Install kubectl, and give it access to the cluster (`kubectl config get-contexts`)"
TIMEOUT = "--request-timeout=30s"
DEPLOYMENT_STATES: dict[str, JobState] = {"Complete": "complete", "Failed": "failed", "Suspended": "waiting"}
"""states of a RayJob without a job state: its cluster is not up yet, or never was"""


@dataclass(frozen=True)
class KubeRayBackend(BatchBackend):
    """The RayJobs of one namespace."""

    namespace: str

    def jobs(self) -> list[JobReport]:
        items = json.loads(self.answer(self._kubectl("get", "rayjobs.ray.io", "--output=json", TIMEOUT)))
        return [report_of(item) for item in items["items"]]

    def submission(self, submission: Submission) -> list[CommandWords]:
        # On the server: the client would copy the wheel into an annotation, which is too small.
        files = (f"--filename={submission.folder / file.name}" for file in submission.files)
        return [self._kubectl("apply", "--server-side", *files, TIMEOUT)]

    def submit(self, submission: Submission) -> str:
        for command in self.submission(submission):
            self.answer(command)
        return submission.job.submission_id

    def show_log(self, report: JobReport, is_followed: bool) -> None:
        # The pod that submits the job and prints its output belongs to a Job with the RayJob's name.
        options = ("--follow", "--pod-running-timeout=10m") if is_followed else ()
        follow(self._kubectl("logs", f"job/{report.handle}", *options), remedy=REMEDY)

    def ending(self, reports: list[JobReport], is_last: bool) -> list[CommandWords]:
        options = ("--ignore-not-found", "--wait=false")
        return [
            self._kubectl("delete", f"rayjob.ray.io/{each.handle}", f"configmap/{each.handle}", *options)
            for each in reports
        ]

    def answer(self, command: CommandWords) -> str:
        result = call(command, remedy=REMEDY)
        if result.code:
            raise InputError(f"kubectl: {result.complaint}", rule=_rule_of(result.complaint), remedy=REMEDY)
        return result.out

    def _kubectl(self, *words: str) -> CommandWords:
        return ("kubectl", f"--namespace={self.namespace}", *words)


def _rule_of(complaint: str) -> str:
    if "doesn't have a resource type" in complaint or "no matches for kind" in complaint:
        return "the cluster has no KubeRay operator, which knows what a RayJob is"
    return "Kubernetes does not answer, or refused it"


def report_of(item: dict[str, Any]) -> JobReport:
    """Convert the status of a RayJob."""
    status = item.get("status") or {}
    native = status.get("jobStatus") or ""
    deployment = status.get("jobDeploymentStatus") or ""
    state = RAY_STATES.get(native) or DEPLOYMENT_STATES.get(deployment, "waiting")
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
