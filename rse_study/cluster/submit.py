"""Submission of a study as a job, unless it already runs."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rse_study.cluster.backend import Backend
from rse_study.cluster.batch_backend import KubeRayBackend, SlurmBackend
from rse_study.cluster.check import files_of_study, problems_of
from rse_study.cluster.job import Job, SubmissionRecord, of_study, run_options, submission_id, yaml_text
from rse_study.cluster.node_capacity import device_hour_price
from rse_study.cluster.ray_backend import LauncherBackend, LocalBackend
from rse_study.cluster.spec import STUDY_FILE, ClusterSpec
from rse_study.cluster.template import render
from rse_study.cluster.wheel import wheel_of_this_version
from rse_study.errors import InputError, InputErrors, Unavailable
from rse_study.results.files.atomic import write_whole
from rse_study.results.files.schema import ledger_path
from rse_study.spec import fingerprint_of
from rse_study.storage.storage import Storage, ledger_key
from rse_study.study.checking.validation import CheckedStudy, read_study
from rse_study.study.definition.content import read_content
from rse_study.study.planning.plan import plan_study

BACKENDS: dict[str, type[Backend]] = {
    "slurm": SlurmBackend,
    "kuberay": KubeRayBackend,
    "launcher": LauncherBackend,
    "local": LocalBackend,
}
PRICE_DIGITS = 6
PATIENCE_SECONDS = 10.0
"""longest wait for a storage that does not answer"""


def backend_of(spec: ClusterSpec, store: Path) -> Backend:
    """Return the backend of a cluster, whose records are in a store."""
    return BACKENDS[spec.kind](store.absolute() / ".clusters" / spec.name, spec)


def read_job(spec: ClusterSpec, path: Path, overrides: Sequence[str], limits: Sequence[str] = ()) -> Job:
    """Return the job that runs a study's file, with prices and storage filled in.

    `limits` are arguments of `run` such as --max-hours. Raises InputErrors if the study cannot run on the cluster.
    """
    checked, content = read_study(path, overrides), read_content(path, overrides)
    if problems := list(problems_of(spec, checked, where=f"cluster {spec.name}")):
        raise InputErrors(problems)
    study = checked.study
    if storage := study.storage or spec.storage:
        content["storage"] = storage
    price = study.allowance.price_per_hour or round(device_hour_price(spec, study.resources), PRICE_DIGITS)
    if price:
        content["allowance"] = content.get("allowance", {}) | {"price_per_hour": price}
    return Job(
        study=study.name,
        submission_id=submission_id(study.name, fingerprint_of(study.resolved())),
        study_yaml=yaml_text(content),
        storage=storage,
        options=(*run_options(spec), *limits),
        wheel=wheel_of_this_version(),
        price_per_hour=price,
        files=files_of_study(checked),
    )


def submit_job(backend: Backend, job: Job, say: Callable[[str], None]) -> str:
    """Submit a study once, and return what became of it.

    Raises InputError if another edition of it writes the same ledger.
    """
    jobs = of_study(backend.jobs(), job.study)
    used = [each for each in jobs if each.submission_id.startswith(job.submission_id)]
    if others := [each for each in jobs if each.is_active and each not in used]:
        what = f"{job.study} is {others[-1].state} as {others[-1].submission_id}, from another version of its file"
        remedy = "Wait for its end, or end it with `rse-study cluster down`, and submit this one then"
        raise InputError(what, rule="a study has one driver at a time", remedy=remedy)
    latest = jobs[-1] if jobs else None
    if latest and latest in used and latest.state not in ("failed", "stopped"):
        return f"nothing to do: {_named(latest.submission_id, latest.handle)} {latest}"
    if used and not backend.reuses_ids:
        number = max(each.number for each in used) + 1
        job = replace(job, submission_id=f"{job.submission_id}-{number}")
    folder = backend.folder_of(job.submission_id)
    write_job(backend.spec, job, folder)
    say(f"files: {folder}")
    handle = backend.submit(job)
    earlier = SubmissionRecord.read(backend.home, job.study)
    reports = earlier.reports if earlier else ()
    record = SubmissionRecord(job.study, job.storage, backend.spec.store, job.price_per_hour, reports)
    record.with_reports(jobs).write(backend.home)
    resumed = f"; the earlier one {latest}, and this one resumes it" if latest else ""
    return f"submitted {_named(job.submission_id, handle)}{resumed}"


def _named(submission_id: str, handle: str) -> str:
    return submission_id if handle == submission_id else f"{submission_id} (job {handle})"


def write_job(spec: ClusterSpec, job: Job, folder: Path) -> list[Path]:
    """Write the files of a job into its folder, and return them."""
    contents = render(spec, job) | {STUDY_FILE: job.study_yaml}
    try:
        written = [write_whole(folder / name, text) for name, text in contents.items()]
        written.append(write_whole(folder / job.wheel.name, job.wheel.content))
        return [*written, *job.copy_files(folder)]
    except OSError as error:
        what = f"cannot be written: {error.strerror or error}"
        raise InputError(what, where=str(folder), remedy="Is this a machine that sees the folder?") from None


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
