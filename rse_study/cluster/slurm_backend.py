"""Slurm jobs, managed from a login node: `sbatch`, `squeue`, `sacct`, `scancel`."""

import os
from collections.abc import Iterator

from rse_study.cluster.backend import BatchBackend, CommandWords, Submission
from rse_study.cluster.job_report import JobReport, JobState
from rse_study.cluster.log_file import print_log
from rse_study.cluster.program import ProgramResult, call
from rse_study.errors import InputError

SCRIPT = "job.sbatch"
LOG = "job.log"
REMEDY = "Give the command on a login node of the cluster, where sbatch and squeue are"
DAYS = 30
"""days for which accounting is queried"""
STATES: dict[str, JobState] = {
    **dict.fromkeys(
        ("PENDING", "CONFIGURING", "SUSPENDED", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT"), "waiting"
    ),
    **dict.fromkeys(("RUNNING", "COMPLETING", "RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED"), "running"),
    "COMPLETED": "complete",
    **dict.fromkeys(("CANCELLED", "PREEMPTED", "REVOKED"), "stopped"),
}
"""Slurm's states; all others are failures"""
ACCOUNTED = "JobID,State,NNodes,Start,End,Reason,JobName"
# The name is last because it is free text.
QUEUED = "%i|%T|%D|%S|%e|%r|%j"


class SlurmBackend(BatchBackend):
    """A Slurm cluster whose commands are on this machine; all nodes see its folder."""

    reuses_ids = True

    def jobs(self) -> list[JobReport]:
        # Many clusters have no accounting; the queue lists a job for some minutes after its end.
        options = ("--noheader", "--parsable2", "--allocations", f"--starttime=now-{DAYS}days")
        accounted = _call(("sacct", *options, f"--format={ACCOUNTED}"))
        queued = self.answer(("squeue", "--me", "--noheader", "--states=all", f"--format={QUEUED}"))
        known = {report.handle: report for report in reports_in(accounted.out if not accounted.code else "")}
        return list((known | {report.handle: report for report in reports_in(queued)}).values())

    def submission(self, submission: Submission) -> list[CommandWords]:
        return [("sbatch", "--parsable", str(submission.folder / SCRIPT))]

    def submit(self, submission: Submission) -> str:
        (command,) = self.submission(submission)
        return self.answer(command).strip().partition(";")[0]

    def show_log(self, report: JobReport, is_followed: bool) -> None:
        log = self.folder_of(report.submission_id) / LOG
        print_log(log, is_over=lambda: not (is_followed and self._is_active(report)))

    def ending(self, reports: list[JobReport], is_last: bool) -> list[CommandWords]:
        # The script alone is signalled: it ends the driver first, then Ray.
        options = {"running": ("--batch", "--signal=TERM")}
        return [("scancel", *options.get(one.state, ()), one.handle) for one in reports if one.is_active]

    def answer(self, command: CommandWords) -> str:
        result = _call(command)
        if result.code:
            rule = "Slurm refused it" if command[0] == "sbatch" else "Slurm does not answer"
            what = result.complaint.removeprefix(f"{command[0]}: ")
            raise InputError(f"{command[0]}: {what}", rule=rule, remedy=REMEDY)
        return result.out

    def _is_active(self, report: JobReport) -> bool:
        return any(each.is_active for each in self.jobs() if each.handle == report.handle)


def _call(command: CommandWords) -> ProgramResult:
    # Times as seconds since 1970, independent of the cluster's time zone.
    return call(command, remedy=REMEDY, env={**os.environ, "SLURM_TIME_FORMAT": "%s"})


def reports_in(text: str) -> Iterator[JobReport]:
    """Yield a report for each line of squeue's or sacct's output."""
    for line in text.splitlines():
        handle, native, nodes, started, ended, reason, name = line.split("|", maxsplit=6)
        word = native.split()[0]  # CANCELLED by 1000
        state = STATES.get(word, "failed")
        yield JobReport(
            submission_id=name,
            handle=handle,
            state=state,
            native=word,
            num_nodes=int(nodes) if nodes.isdigit() and state != "waiting" else 0,
            started=_seconds(started) if state != "waiting" else None,
            ended=_seconds(ended) if state not in ("waiting", "running") else None,
            reason="" if reason in ("None", "") else reason,
        )


def _seconds(text: str) -> float | None:
    return float(text) if text.isdigit() else None  # Unknown, N/A, NONE
