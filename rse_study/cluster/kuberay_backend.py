"""Control of KubeRay's RayJobs by `kubectl`."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rse_study.cluster.backend import Backend, CommandWords, answer_of, call
from rse_study.cluster.job import Job
from rse_study.cluster.job_report import RAY_STATES, JobReport, JobState
from rse_study.cluster.template import CONFIG_MAP, FILES

REMEDY = "Install kubectl, and give it access to the cluster (`kubectl config get-contexts`)"
TIMEOUT = "--request-timeout=30s"
DEPLOYMENT_STATES: dict[str, JobState] = {"Complete": "complete", "Failed": "failed", "Suspended": "waiting"}
"""states of a RayJob without a job state: its cluster is not up yet, or never was"""


@dataclass(frozen=True)
class KubeRayBackend(Backend):
    """The RayJobs of one namespace."""

    namespace: str

    def jobs(self) -> list[JobReport]:
        items = json.loads(_answer(self._kubectl("get", "rayjobs.ray.io", "--output=json", TIMEOUT)))
        return [report_of(item) for item in items["items"]]

    def submission(self, job: Job) -> list[CommandWords]:
        # On the server: the client would copy the wheel into an annotation, which is too small.
        folder = self.folder_of(job.submission_id)
        files = (f"--filename={folder / name}" for name in (CONFIG_MAP, FILES["kuberay"]))
        return [self._kubectl("apply", "--server-side", *files, TIMEOUT)]

    def submit(self, job: Job) -> str:
        _answer(*self.submission(job))
        return job.submission_id

    def show_log(self, report: JobReport, is_followed: bool) -> None:
        # The pod that submits the job and prints its output belongs to a Job with the RayJob's name.
        options = ("--follow", "--pod-running-timeout=10m") if is_followed else ()
        call(self._kubectl("logs", f"job/{report.handle}", *options), remedy=REMEDY, is_shown=True)

    def dashboard(self, report: JobReport) -> str:
        kubectl, path = f"kubectl --namespace={self.namespace}", ".status.rayClusterStatus.head.serviceName"
        service = f"$({kubectl} get rayjob {report.handle} --output=jsonpath={{{path}}})"
        return (
            f"`{kubectl} port-forward service/{service} 8265`, then http://127.0.0.1:8265;"
            " token: the Secret of the template's `authOptions`"
        )

    def ending(self, reports: list[JobReport], is_last: bool) -> list[CommandWords]:
        options = ("--ignore-not-found", "--wait=false")
        return [
            self._kubectl("delete", f"rayjob.ray.io/{each.handle}", f"configmap/{each.handle}", *options)
            for each in reports
        ]

    def _kubectl(self, *words: str) -> CommandWords:
        return ("kubectl", f"--namespace={self.namespace}", *words)


def _answer(command: CommandWords) -> str:
    rule = (
        "Kubernetes does not answer or refused it, or has no KubeRay operator, which knows what a RayJob is"
    )
    return answer_of(command, rule=rule, remedy=REMEDY)


def report_of(item: dict[str, Any]) -> JobReport:
    """Convert the status of a RayJob."""
    name, status = item["metadata"]["name"], item.get("status") or {}
    native, deployment = status.get("jobStatus") or "", status.get("jobDeploymentStatus") or ""
    state = RAY_STATES.get(native) or DEPLOYMENT_STATES.get(deployment, "waiting")
    return JobReport(
        submission_id=name,
        handle=name,
        # Failed: its time limit passed, or its cluster never started.
        state="failed" if deployment == "Failed" else state,
        native=native or deployment or "new",
        started=_seconds(status.get("startTime")),
        ended=_seconds(status.get("endTime")),
        reason=str(status.get("message") or status.get("reason") or ""),
    )


def _seconds(text: str | None) -> float | None:
    return datetime.fromisoformat(text).timestamp() if text else None
