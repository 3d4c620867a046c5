"""Clusters whose queue starts Ray for each job: Slurm, Kubernetes with KubeRay."""

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from rse_study.cluster.backend import Backend, CommandWords, answer_of, call
from rse_study.cluster.job import RAY_STATES, Job, JobReport, JobState, sample_job
from rse_study.cluster.template import CONFIG_MAP, FILES, filled_template, metadata_of
from rse_study.errors import InputError, MissingFile

LOG = "job.log"
ON_LOGIN_NODE = "Give the command on a login node of the cluster, where sbatch and squeue are"
DAYS = 30
"""days for which accounting is queried"""
LOOK_SECONDS = 3.0
"""interval of asking whether a followed job has ended"""
WAITING = "PENDING CONFIGURING SUSPENDED REQUEUED REQUEUE_HOLD SPECIAL_EXIT"
RUNNING = "RUNNING COMPLETING RESIZING SIGNALING STAGE_OUT STOPPED"
SLURM_STATES: dict[str, JobState] = {
    **dict.fromkeys(WAITING.split(), "waiting"),
    **dict.fromkeys(RUNNING.split(), "running"),
    **dict.fromkeys(("CANCELLED", "PREEMPTED", "REVOKED"), "stopped"),
    "COMPLETED": "complete",
}
"""Slurm's states; all others are failures"""
ACCOUNTED = "JobID,State,Start,End,Reason,JobName"
# The name is last because it is free text.
QUEUED = "%i|%T|%S|%e|%r|%j"
DASHBOARD = re.compile(r"Ray's dashboard: http://([\w.:-]+)")
"""line of the driver, in the job's log"""
TOKEN = "tr '\\0' '\\n' < /proc/$(pgrep -nu $(id -u) raylet)/environ | grep RAY_AUTH_TOKEN="
KUBECTL_RULE = (
    "Kubernetes does not answer or refused it, or has no KubeRay operator, which knows what a RayJob is"
)
KUBECTL_REMEDY = "Install kubectl, and give it access to the cluster (`kubectl config get-contexts`)"
TIMEOUT = "--request-timeout=30s"
RAY_JOB_STATES = RAY_STATES | {"Complete": "complete", "Failed": "failed"}
"""states of a RayJob: those of its job, else its own, with which it waits until its cluster is up"""


class SlurmBackend(Backend):
    """A Slurm cluster whose commands are on this machine; all nodes see its folder."""

    reuses_ids = True

    def folder_of(self, submission_id: str) -> Path:
        return Path(self.spec.folder) / submission_id

    def jobs(self) -> list[JobReport]:
        # Many clusters have no accounting; the queue lists a job for some minutes after its end.
        options = ("--noheader", "--parsable2", "--allocations", f"--starttime=now-{DAYS}days")
        queued = _ask_slurm(("squeue", "--me", "--noheader", "--states=all", f"--format={QUEUED}"))
        accounted = ""
        with suppress(InputError):
            accounted = _ask_slurm(("sacct", *options, f"--format={ACCOUNTED}"))
        known = {report.handle: report for text in (accounted, queued) for report in slurm_reports(text)}
        return list(known.values())

    def submission(self, job: Job) -> list[CommandWords]:
        return [("sbatch", "--parsable", str(self.folder_of(job.submission_id) / FILES["slurm"]))]

    def submit(self, job: Job) -> str:
        return _ask_slurm(*self.submission(job)).strip().partition(";")[0]

    def show_log(self, report: JobReport, is_followed: bool) -> None:
        log = self.folder_of(report.submission_id) / LOG
        print_log(log, lambda: not is_followed or report.handle not in self._active())

    def dashboard(self, report: JobReport) -> str:
        log = self.folder_of(report.submission_id) / LOG
        places = DASHBOARD.findall(log.read_text(errors="replace")) if log.is_file() else []
        if not places or report.state != "running":
            return ""
        head = _ask_slurm(("squeue", "--noheader", f"--jobs={report.handle}", "--format=%B")).strip()
        step = f"srun --jobid={report.handle} --overlap --mem=0 --nodes=1 --ntasks=1 --nodelist={head}"
        return f"""`ssh -N -L 8265:{places[-1]} {head}`, then http://127.0.0.1:8265; token: `{step} sh -c "{TOKEN}"`"""

    def ending(self, reports: list[JobReport], is_last: bool) -> list[CommandWords]:
        # The script alone is signalled: it ends the driver first, then Ray.
        options = {"running": ("--batch", "--signal=TERM")}
        return [("scancel", *options.get(one.state, ()), one.handle) for one in reports if one.is_active]

    def _active(self) -> list[str]:
        return [each.handle for each in self.jobs() if each.is_active]


def _ask_slurm(command: CommandWords) -> str:
    rule = "Slurm refused it" if command[0] == "sbatch" else "Slurm does not answer"
    # Times as seconds since 1970, independent of the cluster's time zone.
    return answer_of(command, rule=rule, remedy=ON_LOGIN_NODE, env={**os.environ, "SLURM_TIME_FORMAT": "%s"})


def print_log(path: Path, is_over: Callable[[], bool]) -> None:
    """Print a growing file to its last line; MissingFile if its job ends without one."""
    over, printed = False, 0
    while not over:
        over = is_over()
        with suppress(FileNotFoundError), path.open(errors="replace") as log:
            log.seek(printed)
            shutil.copyfileobj(log, sys.stdout)
            sys.stdout.flush()
            printed = log.tell()
        if not over:
            time.sleep(LOOK_SECONDS)
    if not path.is_file():
        rule, remedy = "the job has written nothing yet", "Is this a folder that this machine sees?"
        raise MissingFile("no log", where=str(path), rule=rule, remedy=remedy)


def slurm_reports(text: str) -> Iterator[JobReport]:
    """Yield a report for each line of squeue's or sacct's output."""
    for line in text.splitlines():
        handle, native, started, ended, reason, name = line.split("|", maxsplit=5)
        word = native.split()[0]  # CANCELLED by 1000
        state = SLURM_STATES.get(word, "failed")
        began = float(started) if started.isdigit() and state != "waiting" else None
        over = float(ended) if ended.isdigit() and state not in ("waiting", "running") else None
        yield JobReport(name, handle, state, word, began, over, "" if reason == "None" else reason)


class KubeRayBackend(Backend):
    """The RayJobs of one namespace, that of the template."""

    @property
    def namespace(self) -> str:
        text = filled_template(self.spec, sample_job(self.spec))
        return str(metadata_of(self.spec, text)["namespace"])

    def jobs(self) -> list[JobReport]:
        items = json.loads(_ask_kubectl(self._kubectl("get", "rayjobs.ray.io", "--output=json", TIMEOUT)))
        return [kuberay_report(item) for item in items["items"]]

    def submission(self, job: Job) -> list[CommandWords]:
        # On the server: the client would copy the wheel into an annotation, which is too small.
        folder = self.folder_of(job.submission_id)
        files = (f"--filename={folder / name}" for name in (CONFIG_MAP, FILES["kuberay"]))
        return [self._kubectl("apply", "--server-side", *files, TIMEOUT)]

    def submit(self, job: Job) -> str:
        _ask_kubectl(*self.submission(job))
        return job.submission_id

    def show_log(self, report: JobReport, is_followed: bool) -> None:
        # The pod that submits the job and prints its output belongs to a Job with the RayJob's name.
        options = ("--follow", "--pod-running-timeout=10m") if is_followed else ()
        call(self._kubectl("logs", f"job/{report.handle}", *options), remedy=KUBECTL_REMEDY, is_shown=True)

    def dashboard(self, report: JobReport) -> str:
        kubectl, path = f"kubectl --namespace={self.namespace}", ".status.rayClusterStatus.head.serviceName"
        service = f"$({kubectl} get rayjob {report.handle} --output=jsonpath={{{path}}})"
        forward = f"{kubectl} port-forward service/{service} 8265"
        return f"`{forward}`, then http://127.0.0.1:8265; token: the Secret of the template's `authOptions`"

    def ending(self, reports: list[JobReport], is_last: bool) -> list[CommandWords]:
        objects = [(f"rayjob.ray.io/{each.handle}", f"configmap/{each.handle}") for each in reports]
        return [self._kubectl("delete", *both, "--ignore-not-found", "--wait=false") for both in objects]

    def _kubectl(self, *words: str) -> CommandWords:
        return ("kubectl", f"--namespace={self.namespace}", *words)


def _ask_kubectl(command: CommandWords) -> str:
    return answer_of(command, rule=KUBECTL_RULE, remedy=KUBECTL_REMEDY)


def kuberay_report(item: dict[str, Any]) -> JobReport:
    """Convert the status of a RayJob."""
    name, status = item["metadata"]["name"], item.get("status") or {}
    native, deployment = status.get("jobStatus") or "", status.get("jobDeploymentStatus") or ""
    # If it failed, its time limit passed or its cluster never started; the job's own state is an old one.
    state = RAY_JOB_STATES.get(deployment if deployment == "Failed" else native or deployment, "waiting")
    started, ended = (_seconds(status.get(key)) for key in ("startTime", "endTime"))
    reason = str(status.get("message") or status.get("reason") or "")
    return JobReport(name, name, state, native or deployment or "new", started, ended, reason)


def _seconds(text: str | None) -> float | None:
    return datetime.fromisoformat(text).timestamp() if text else None
