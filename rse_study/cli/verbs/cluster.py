"""The bodies of `cluster ...`: what is given to a cluster, and its jobs."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from shlex import join
from typing import Annotated, TypeVar

import typer

from analysis.formats import show_duration
from rse_study.cli import parameters
from rse_study.cli.arguments import name_in, require_folder, study_file
from rse_study.cli.status_content import StudyStatus, state_of
from rse_study.cli.terminal.activity_bars import ActivityBars
from rse_study.cli.terminal.screen import announce, command, in_store, json_of, suggest, with_overrides
from rse_study.cli.verbs.status import summary_of
from rse_study.cluster.backend import Backend
from rse_study.cluster.check import placeholders_of, problems_of, resources_by_path
from rse_study.cluster.job import STATES, Job, JobReport, SubmissionRecord, of_study, sample_job
from rse_study.cluster.node_capacity import describe_price
from rse_study.cluster.spec import KINDS, STUDY_FILE, ClusterSpec, cluster_file, read_cluster
from rse_study.cluster.submit import backend_of, complete_in, ledger_copy, read_job, submit_job, write_job
from rse_study.cluster.template import FILES, render
from rse_study.errors import InputError, InputErrors, Unavailable, refuse
from rse_study.results.files.schema import ledger_path
from rse_study.storage import absolute
from rse_study.storage.storage import Storage
from rse_study.study.checking.validation import CheckedStudy, read_study
from rse_study.study.definition.shipped import shipped_studies
from rse_study.yaml12 import parse_yaml

T = TypeVar("T")
MOST_CHARACTERS = 20_000  # of a file on the screen: a manifest may hold a whole wheel
OUT = "job"
DRY_RUNS = {
    "slurm": f"sbatch --test-only {OUT}/{FILES['slurm']}",
    "kuberay": f"kubectl apply --dry-run=server -f {OUT}/{FILES['kuberay']}",
}
"""by which Slurm and Kubernetes read what is rendered, and run nothing"""


def write_cluster(
    shipped: Annotated[str, typer.Argument(metavar="SHIPPED", help="A shipped cluster: slurm, kuberay ...")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new cluster's name.")],
) -> None:
    """Copy a shipped cluster, NAME.yaml and its template, into this folder."""
    require_folder(Path(), where="this folder:")
    spec = read_cluster(shipped, [f"name={name}"])
    template = Path(spec.template)
    copy = name + next(end for end in KINDS if template.name.endswith(end))
    text = cluster_file(shipped).read_text(encoding="utf-8").replace(template.name, copy)
    text = re.sub(r"^name: .*$", f"name: {name}", text, flags=re.MULTILINE)
    contents = {Path(f"{name}.yaml"): text, Path(copy): template.read_text(encoding="utf-8")}
    for path in filter(Path.exists, contents):
        rule, remedy = "nothing is overwritten", "Choose another name, or remove it"
        raise InputError("already exists", where=str(path), rule=rule, remedy=remedy)
    for path, text in contents.items():
        path.write_text(text, encoding="utf-8")
    announce(f"{name}.yaml: nodes, prices, places. {copy}: everything else")
    if examples := ", ".join(placeholders_of(spec)):
        announce(f"replace in them: {examples}")
    suggest(command("cluster", "validate", name, "STUDY"))


def render_cluster(
    cluster: parameters.ClusterArgument,
    study: parameters.StudyArgument,
    overrides: parameters.Overrides = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the files here, with everything the job needs.")
    ] = None,
) -> None:
    """Print what Slurm, KubeRay or Ray's launcher would be given.

    Contacts no cluster.
    """
    spec, overrides = read_cluster(cluster), overrides or []
    job = read_job(spec, study_file(study), overrides)
    if out is None:
        print("\n".join(shown_files(render(spec, job), Path())), flush=True)
        return
    for path in write_job(spec, job, out):
        print(path)
    suggest(command("cluster", "submit", cluster, study, *with_overrides(overrides)))


def shown_files(files: dict[str, str], folder: Path) -> Iterator[str]:
    """Yield every file with its name, cut if it is too long for a screen."""
    for name, text in files.items():
        yield f"# ---- {folder / name}\n{text[:MOST_CHARACTERS]}"
        if len(text) > MOST_CHARACTERS:
            yield f"... {len(text):,} characters in all: --out DIR writes them\n"


def validate_cluster(
    cluster: parameters.ClusterArgument,
    study: parameters.OptionalStudyArgument = "",
    overrides: parameters.Overrides = None,
) -> None:
    """Report every problem of a cluster, and of a study on it.

    Works offline: checks the spec, its template, what the study needs from them, and a launcher's file with Ray's own
    validators; for Slurm and KubeRay, names their own dry run. Exit code 2, with a line for each problem.
    """
    problems: list[InputError] = []
    spec = _attempt(lambda: read_cluster(cluster), problems)
    checked = _attempt(lambda: read_study(study_file(study), overrides or []), problems) if study else None
    if spec is None:
        raise InputErrors(problems)
    problems += problems_of(spec, checked, where=str(cluster_file(cluster)))
    if spec.kind == "launcher" and not problems:
        from rse_study.on_ray.nodes.launcher_check import check_launcher_file

        (text,) = render(spec, sample_job(spec)).values()
        problems += check_launcher_file(parse_yaml(text, where=spec.template), where=spec.template)
    refuse(problems)
    announce(f"{spec.name}: valid. {describe_price(spec)}")
    for note in _notes(spec, checked):
        announce(note)
    words = (cluster, study or "STUDY", *with_overrides(overrides or []))
    if spec.kind in DRY_RUNS:
        suggest(command("cluster", "render", *words, "--out", OUT), DRY_RUNS[spec.kind])
    else:
        suggest(command("cluster", "submit", *words, "--dry-run"))


def _attempt(call: Callable[[], T], problems: list[InputError]) -> T | None:
    """Return what a call returns; collect the problems it raises, and return None then."""
    try:
        return call()
    except InputError as error:
        problems += error.problems if isinstance(error, InputErrors) else [error]
    return None


def _notes(spec: ClusterSpec, checked: CheckedStudy | None) -> Iterator[str]:
    if examples := ", ".join(placeholders_of(spec)):
        yield f"warning: {examples}: still the placeholder of the shipped example"
    has_gpus = any(group.gpus for group in spec.workers.values())
    if checked and has_gpus and not any(one.gpus for one in resources_by_path(checked.study).values()):
        yield f"warning: {checked.study.name} uses no GPU, but the GPUs of {spec.name} cost money"
    if spec.kind == "launcher":
        yield f"{FILES[spec.kind]}: checked by Ray's validators and against its schema"


START_SECONDS = 600.0
"""time that a job may take to start Ray and its first cell"""


def submit_study(
    cluster: parameters.ClusterArgument,
    study: parameters.StudyArgument,
    overrides: parameters.Overrides = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the files and the commands; change nothing.")
    ] = False,
    max_hours: parameters.MaxHours = None,
    max_cost: parameters.MaxCost = None,
    store: parameters.Store = parameters.DEFAULT_STORE,
    is_revised: parameters.Revise = False,
) -> None:
    """Run or resume a study on a cluster.

    The job's name depends on the study's content, so a running or completed study is not submitted twice. A study
    that ended early is submitted again and continues where it stopped. A study that is complete by its ledger, in the
    store or the storage, starts nothing.
    """
    spec = read_cluster(cluster)
    if spec.kind == "local" and not Path(spec.store).is_absolute():
        # Its head is this machine: studies are where `run` would put them.
        spec = spec.model_copy(update={"store": str(store.absolute())})
    limits = [] if max_hours is None else ["--max-hours", f"{max_hours:g}"]
    limits += ["--revise"] if is_revised else []
    job = read_job(spec, study_file(study), overrides or (), limits)
    backend = backend_of(spec, store)
    if dry_run:
        print("\n".join(_dry_lines(backend, job)), flush=True)
        return
    if place := complete_in(read_study(study_file(study), overrides or ()), store, job.storage):
        announce(f"nothing to do: {job.study} is complete ({place})")
        fetch = ("cluster", "fetch", cluster, study) if place == job.storage else ("report", job.study)
        suggest(command(*fetch, *in_store(store)))
        return
    announce(submit_job(backend, job, announce))
    words = (cluster, study, *in_store(store))
    suggest(command("cluster", "logs", "-f", *words), command("cluster", "status", *words))


def _dry_lines(backend: Backend, job: Job) -> Iterator[str]:
    folder = backend.folder_of(job.submission_id)
    yield from shown_files(render(backend.spec, job), folder)
    for name, content in ((STUDY_FILE, job.study_yaml.encode()), (job.wheel.name, job.wheel.content)):
        yield f"# ---- {folder / name}: {len(content):,} bytes"
    for name, path in job.files.items():
        yield f"# ---- {folder / name}: {path.stat().st_size:,} bytes, from {path}"
    yield "# ---- commands"
    yield from map(join, backend.submission(job))
    yield "# nothing was written or run"


def jobs_on_cluster(given: str, study: str, store: Path) -> tuple[Backend, SubmissionRecord, list[JobReport]]:
    """Ask a cluster for a study's jobs, oldest first, with those it has forgotten.

    Without a record of a submission from here, storage and store are the spec's. Raises InputError without a job.
    """
    spec, name = read_cluster(given), _study_name(study)
    backend = backend_of(spec, store)
    known = SubmissionRecord.read(backend.home, name)
    record = known or SubmissionRecord(name, spec.storage, spec.store)
    record = record.with_reports(of_study(backend.jobs(), name))
    if known:
        record.write(backend.home)
    jobs = of_study(record.reports, name)
    if not jobs:
        remedy = f"Submit it: rse-study cluster submit {given} {study}"
        raise InputError(f"no job of study {name!r} on {spec.name}", where="STUDY", remedy=remedy)
    return backend, record, jobs


def _study_name(study: str) -> str:
    """Return the name of the study a user means, whether its file is here or not."""
    is_file = Path(study).suffix in (".yaml", ".yml")
    if is_file or study.replace("-", "_") in {path.stem for path in shipped_studies()}:
        return name_in(study_file(study))
    return study


def show_cluster_status(
    cluster: parameters.ClusterArgument,
    study: parameters.StudyArgument,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    store: parameters.Store = parameters.DEFAULT_STORE,
) -> None:
    """Show a study's job, its cells, and their cost so far."""
    backend, record, jobs = jobs_on_cluster(cluster, study, store)
    state, source = _cells_of(record, jobs[-1])
    spent = state.device_s / 3600 * record.price_per_hour if state else None
    if as_json:
        content = {"cluster": backend.spec.name, "kind": backend.spec.kind, "study": record.study}
        cells = state.counts if state else None
        print(json_of(content | {"jobs": [*map(vars, jobs)], "spent": spent, "cells": cells}), flush=True)
        return
    announce(f"{record.study} on {backend.spec.name} ({backend.spec.kind})")
    for report in jobs:
        same = report.handle == report.submission_id
        name = report.submission_id if same else f"{report.handle} ({report.submission_id})"
        announce(f"job: {name} {report}{_times(report)}")
    if dashboard := backend.dashboard(jobs[-1]):
        announce(f"Ray's dashboard: {dashboard}")
    announce(f"{summary_of(state)} ({source})" if state else f"cells: {source}")
    if state:
        hours = f"{state.device_s / 3600:.2f} device hours of cells, at {record.price_per_hour:g} an hour"
        announce(f"spent so far: {spent:.2f} ({hours}; starting and idle nodes cost on top)")
    suggest(command("cluster", *STATES[jobs[-1].state][1].split(), cluster, study, *in_store(store)))


def _cells_of(record: SubmissionRecord, job: JobReport) -> tuple[StudyStatus | None, str]:
    """Return a study's state and where its ledger lies; None and why without one.

    It is the driver's own ledger where this machine sees it, else the copy in the storage.
    """
    folder = Path(record.store) / record.study
    try:
        # A relative store is below the job's folder on the head: one of that name here is another's.
        if folder.is_absolute() and ledger_path(folder).is_file():
            return state_of(folder), str(folder)
        if not record.storage:
            return None, "unknown (the study has no storage from which to read its ledger)"
        with ledger_copy(record.storage, record.study) as store:
            state = state_of(store / record.study)
    except (InputError, Unavailable) as error:
        if job.is_active and job.seconds < START_SECONDS:  # neither storage nor ledger may be there yet
            return None, "no cell has started yet"
        return None, f"unknown ({error})"
    # Who holds the ledger stands beside it, on the driver's disk: here the job says whether anybody does.
    holder = {"job": job.handle} if job.is_active else None
    return state.model_copy(update={"holder": holder}), f"the copy in {record.storage}"


def _times(report: JobReport) -> str:
    if report.started is None:
        return ""
    began = datetime.fromtimestamp(report.started).strftime("%Y-%m-%d %H:%M:%S")
    return f", since {began}, for {show_duration(report.seconds) or '0 s'}"


def show_log(
    cluster: parameters.ClusterArgument,
    study: parameters.StudyArgument,
    is_followed: Annotated[
        bool, typer.Option("-f", "--follow", help="Follow until the job ends; Ctrl-C does not stop the job.")
    ] = False,
    store: parameters.Store = parameters.DEFAULT_STORE,
) -> None:
    """Show what a study's newest job printed."""
    backend, _, jobs = jobs_on_cluster(cluster, study, store)
    backend.show_log(jobs[-1], is_followed)


def fetch_study(
    cluster: parameters.ClusterArgument,
    study: parameters.OptionalStudyArgument,
    store: parameters.Store = parameters.DEFAULT_STORE,
) -> None:
    """Copy a study from its storage, and write its report.

    Also works while the study runs. Models are copied only when `export` or `evaluate` needs one.
    """
    from analysis.report import write_report  # slow imports, which the other commands do without
    from rse_study.on_ray.stored.ledger_copy import bring_study

    spec, name = read_cluster(cluster), _study_name(study)
    record = SubmissionRecord.read(backend_of(spec, store).home, name)
    location = (record.storage if record else "") or spec.storage
    if not location:
        remedy = "Its files lie on the cluster's own disk, in the folder of its job"
        raise InputError(f"{spec.name} has no storage", where="SPEC", remedy=remedy)
    folder = store / name
    require_folder(folder, where="--store")
    with ActivityBars() as bars:
        with bars.waiting(f"bringing {name}"):
            is_new = bring_study(Storage(absolute(location)), folder.resolve())
        with bars.waiting("writing the report"):
            report = write_report(folder)
    announce(f"{name}: {'copied its ledger' if is_new else 'the ledger here is up to date'} ({location})")
    announce(f"report: {report.resolve()}")
    suggest(command("status", name, *in_store(store)))


def end_jobs(
    cluster: parameters.ClusterArgument,
    study: parameters.OptionalStudyArgument = "",
    is_confirmed: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    store: parameters.Store = parameters.DEFAULT_STORE,
) -> None:
    """End a study's job, and the cluster if nobody else uses it.

    Without STUDY, ends all your jobs on the cluster. Committed results are kept, and `submit` continues from them.
    """
    spec = read_cluster(cluster)
    backend = backend_of(spec, store)
    active = [report for report in backend.jobs() if report.is_active]
    jobs = [report for report in active if report.stem.startswith("rse-")]
    jobs = of_study(jobs, _study_name(study)) if study else jobs
    is_last = len(jobs) == len(active)
    commands = backend.ending(jobs, is_last)
    if not commands:
        announce(f"nothing to end on {spec.name}")
        return
    for report in jobs:
        announce(f"{report.submission_id} {report}")
    for each in commands:
        print(f"    {join(each)}", flush=True)
    if not is_confirmed and not _is_wanted():
        announce("left as it is")
        return
    backend.end(jobs, is_last)
    announce("ended; committed results are kept")
    suggest(command("cluster", "submit", cluster, study or "STUDY", *in_store(store)))


def _is_wanted() -> bool:
    try:
        return typer.confirm("End it? Committed results are kept")
    except typer.Abort:  # Ctrl-C, or nobody there to answer
        raise InputError("no answer", where="cluster down", remedy="--yes ends it without asking") from None
