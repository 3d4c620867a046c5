"""Slurm jobs, managed from a login node: `sbatch`, `squeue`, `sacct`, `scancel`."""

import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from rse_study.cluster.backend import Backend, CommandWords, answer_of
from rse_study.cluster.job import Job
from rse_study.cluster.job_report import JobReport, JobState
from rse_study.errors import InputError, MissingFile

SCRIPT, LOG = "job.sbatch", "job.log"
REMEDY = "Give the command on a login node of the cluster, where sbatch and squeue are"
DAYS = 30
"""days for which accounting is queried"""
LOOK_SECONDS = 3.0
"""interval of asking whether a followed job has ended"""
WAITING = "PENDING CONFIGURING SUSPENDED REQUEUED REQUEUE_HOLD SPECIAL_EXIT"
RUNNING = "RUNNING COMPLETING RESIZING SIGNALING STAGE_OUT STOPPED"
STATES: dict[str, JobState] = {
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


class SlurmBackend(Backend):
    """A Slurm cluster whose commands are on this machine; all nodes see its folder."""

    reuses_ids = True

    def jobs(self) -> list[JobReport]:
        # Many clusters have no accounting; the queue lists a job for some minutes after its end.
        options = ("--noheader", "--parsable2", "--allocations", f"--starttime=now-{DAYS}days")
        queued = _answer(("squeue", "--me", "--noheader", "--states=all", f"--format={QUEUED}"))
        accounted = ""
        with suppress(InputError):
            accounted = _answer(("sacct", *options, f"--format={ACCOUNTED}"))
        known = {report.handle: report for text in (accounted, queued) for report in reports_in(text)}
        return list(known.values())

    def submission(self, job: Job) -> list[CommandWords]:
        return [("sbatch", "--parsable", str(self.folder_of(job.submission_id) / SCRIPT))]

    def submit(self, job: Job) -> str:
        return _answer(*self.submission(job)).strip().partition(";")[0]

    def show_log(self, report: JobReport, is_followed: bool) -> None:
        log = self.folder_of(report.submission_id) / LOG
        print_log(log, lambda: not is_followed or report.handle not in self._active())

    def dashboard(self, report: JobReport) -> str:
        log = self.folder_of(report.submission_id) / LOG
        places = DASHBOARD.findall(log.read_text(errors="replace")) if log.is_file() else []
        if not places or report.state != "running":
            return ""
        head = _answer(("squeue", "--noheader", f"--jobs={report.handle}", "--format=%B")).strip()
        step = f"srun --jobid={report.handle} --overlap --mem=0 --nodes=1 --ntasks=1 --nodelist={head}"
        return f"""`ssh -N -L 8265:{places[-1]} {head}`, then http://127.0.0.1:8265; token: `{step} sh -c "{TOKEN}"`"""

    def ending(self, reports: list[JobReport], is_last: bool) -> list[CommandWords]:
        # The script alone is signalled: it ends the driver first, then Ray.
        options = {"running": ("--batch", "--signal=TERM")}
        return [("scancel", *options.get(one.state, ()), one.handle) for one in reports if one.is_active]

    def _active(self) -> list[str]:
        return [each.handle for each in self.jobs() if each.is_active]


def _answer(command: CommandWords) -> str:
    rule = "Slurm refused it" if command[0] == "sbatch" else "Slurm does not answer"
    # Times as seconds since 1970, independent of the cluster's time zone.
    return answer_of(command, rule=rule, remedy=REMEDY, env={**os.environ, "SLURM_TIME_FORMAT": "%s"})


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


def reports_in(text: str) -> Iterator[JobReport]:
    """Yield a report for each line of squeue's or sacct's output."""
    for line in text.splitlines():
        handle, native, started, ended, reason, name = line.split("|", maxsplit=5)
        word = native.split()[0]  # CANCELLED by 1000
        state = STATES.get(word, "failed")
        yield JobReport(
            submission_id=name,
            handle=handle,
            state=state,
            native=word,
            started=_seconds(started) if state != "waiting" else None,
            ended=_seconds(ended) if state not in ("waiting", "running") else None,
            reason="" if reason in ("None", "") else reason,
        )


def _seconds(text: str) -> float | None:
    return float(text) if text.isdigit() else None  # Unknown, N/A, NONE
