"""Submission of a study as a job, unless it already runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from rse_study.cluster.backend import Backend, Submission
from rse_study.cluster.checking.check import check_cluster, check_study_on
from rse_study.cluster.job import Job, copy_files, job_files, job_of
from rse_study.cluster.job_report import ACTIVE, JobReport, numbered_id, of_study
from rse_study.cluster.render import render
from rse_study.cluster.spec import ClusterSpec
from rse_study.cluster.submission_record import SubmissionRecord, read_record, write_record
from rse_study.cluster.wheel import wheel_of_this_version
from rse_study.errors import InputError, InputErrors
from rse_study.results.files.atomic import write_whole
from rse_study.study.checking.validation import read_study
from rse_study.study.definition.content import read_content

SETTLED = (*ACTIVE, "complete")
"""states in which a job is not resubmitted"""


@dataclass(frozen=True)
class Submitted:
    """The result of a submission."""

    submission_id: str
    handle: str
    earlier: JobReport | None
    is_new: bool
    """False if the earlier job is active or complete"""


def read_job(spec: ClusterSpec, path: Path, overrides: Sequence[str], limits: Sequence[str] = ()) -> Job:
    """Return the job that runs a study's file on a cluster; `limits` go to its `run`."""
    checked, where = read_study(path, overrides), f"cluster {spec.name}"
    problems = [*check_cluster(spec, where=where), *check_study_on(spec, checked, where=where)]
    if problems:
        raise InputErrors(problems)
    return job_of(checked, read_content(path, overrides), spec, wheel_of_this_version(), limits)


def prepare_submission(spec: ClusterSpec, backend: Backend, job: Job, jobs: list[JobReport]) -> Submission:
    """Return a study's submission, with an id the cluster has not used."""
    used = [report for report in jobs if report.submission_id.startswith(job.submission_id)]
    if used and not backend.reuses_ids:
        number = max(report.number for report in used) + 1
        job = replace(job, submission_id=numbered_id(job.submission_id, number))
    return Submission(job, render(spec, job), backend.folder_of(job.submission_id))


def submit_job(
    spec: ClusterSpec, backend: Backend, job: Job, home: Path, say: Callable[[str], None]
) -> Submitted:
    """Submit a study once; InputError if another edition of it writes the same ledger."""
    jobs = of_study(backend.jobs(), job.study)
    latest = jobs[-1] if jobs else None
    _require_one_edition(jobs, job)
    if latest and latest.submission_id.startswith(job.submission_id) and latest.state in SETTLED:
        return Submitted(latest.submission_id, latest.handle, latest, is_new=False)
    submission = prepare_submission(spec, backend, job, jobs)
    write_submission(submission)
    say(f"files: {submission.folder}")
    handle = backend.submit(submission)
    earlier = read_record(home, job.study)
    record = SubmissionRecord(
        study=job.study,
        submission_id=submission.job.submission_id,
        handle=handle,
        submitted=datetime.now(UTC).isoformat(timespec="seconds"),
        storage=job.storage,
        spec=spec.model_dump(mode="json"),
        reports=earlier.reports if earlier else (),
    )
    write_record(home, record.with_reports(jobs))
    return Submitted(submission.job.submission_id, handle, latest, is_new=True)


def write_submission(submission: Submission) -> list[Path]:
    """Write the files of a submission into its folder, and return them."""
    folder = submission.folder
    rendered = {file.name: file.text.encode() for file in submission.files}
    contents = rendered | job_files(submission.job)
    try:
        written = [write_whole(folder / name, content) for name, content in contents.items()]
        return [*written, *copy_files(submission.job, folder)]
    except OSError as error:
        remedy = "Is this a machine that sees the folder?"
        raise InputError(
            f"cannot be written: {error.strerror or error}", where=str(folder), remedy=remedy
        ) from None


def _require_one_edition(jobs: list[JobReport], job: Job) -> None:
    active = [each for each in jobs if each.is_active]
    others = [each for each in active if not each.submission_id.startswith(job.submission_id)]
    if others:
        what = f"{job.study} is {others[-1].state} as {others[-1].submission_id}, from another version of its file"
        remedy = "Wait for its end, or end it with `rse-study cluster down`, and submit this one then"
        raise InputError(what, rule="a study has one driver at a time", remedy=remedy)
