"""Submission of a study as a job, unless it already runs."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rse_study.cluster.backend import Backend
from rse_study.cluster.check import check_cluster, check_study_on
from rse_study.cluster.job import Job, Submission, copy_files, job_files, job_of, sample_job
from rse_study.cluster.job_report import ACTIVE, JobReport, numbered_id, of_study
from rse_study.cluster.kuberay_backend import KubeRayBackend
from rse_study.cluster.launcher_backend import LauncherBackend
from rse_study.cluster.local_backend import LocalBackend
from rse_study.cluster.slurm_backend import SlurmBackend
from rse_study.cluster.spec import ClusterSpec
from rse_study.cluster.submission_record import SubmissionRecord, read_record, write_record
from rse_study.cluster.template import filled_template, metadata_of, render
from rse_study.cluster.wheel import wheel_of_this_version
from rse_study.errors import InputError, InputErrors, Unavailable
from rse_study.results.files.atomic import write_whole
from rse_study.results.files.schema import ledger_path
from rse_study.storage.storage import Storage, ledger_key
from rse_study.study.checking.validation import CheckedStudy, read_study
from rse_study.study.definition.content import read_content
from rse_study.study.planning.plan import plan_study

SETTLED = (*ACTIVE, "complete")
"""states in which a job is not resubmitted"""
PATIENCE_SECONDS = 10.0
"""longest wait for a storage that does not answer"""


@dataclass(frozen=True)
class Submitted:
    """The result of a submission."""

    submission_id: str
    handle: str
    earlier: JobReport | None
    is_new: bool
    """False if the earlier job is active or complete"""


def backend_of(spec: ClusterSpec, home: Path) -> Backend:
    """Return the backend of a cluster, whose local files are in `home`."""
    home = home.absolute()
    match spec.kind:
        case "slurm":
            return SlurmBackend(Path(spec.folder))
        case "local":
            return LocalBackend(home, spec)
        case "launcher":
            return LauncherBackend(home, spec)
    text = filled_template(spec, sample_job(spec))
    return KubeRayBackend(home, metadata_of(text, where=spec.template)["namespace"])


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
        storage=job.storage,
        store=spec.store,
        price_per_hour=job.price_per_hour,
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


def complete_in(checked: CheckedStudy, store: Path, storage: str) -> str:
    """Return the store or storage in whose ledger a study is complete; empty if none."""
    folder = store / checked.study.name
    if ledger_path(folder).is_file() and plan_study(checked, store).is_complete:
        return str(folder)
    try:
        with ledger_copy(storage, checked.study.name) as copy:
            return storage if plan_study(checked, copy).is_complete else ""
    except (InputError, Unavailable):  # nodes may see it: the job says what is wrong
        return ""


@contextmanager
def ledger_copy(storage: str, study: str) -> Iterator[Path]:
    """Give a store with a study's ledger from a storage; InputError without one."""
    content = Storage(storage, patience_s=PATIENCE_SECONDS).find(ledger_key(study)) if storage else None
    if content is None:
        raise InputError("no ledger yet", where=storage)
    with TemporaryDirectory() as store:
        path = ledger_path(Path(store) / study)
        path.parent.mkdir()
        path.write_bytes(content)
        yield Path(store)
