"""The body of `cluster submit`: a study becomes a job, once."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from rse_study.cli import parameters
from rse_study.cli.arguments.study import study_file
from rse_study.cli.terminal.next_step import command, in_store, suggest
from rse_study.cli.terminal.screen import announce
from rse_study.cli.verbs.cluster.study_on_cluster import show_job
from rse_study.cluster.backend import Submission
from rse_study.cluster.backends import backend_of
from rse_study.cluster.completeness import complete_in
from rse_study.cluster.job import job_files
from rse_study.cluster.program import shown
from rse_study.cluster.reading import read_cluster
from rse_study.cluster.study_files import size_of
from rse_study.cluster.submission_record import cluster_home
from rse_study.cluster.submit import Submitted, prepare_submission, read_job, submit_job
from rse_study.study.checking.validation import read_study


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
    home = cluster_home(store, spec.name)
    backend = backend_of(spec, home)
    place = "" if dry_run else complete_in(read_study(study_file(study), overrides or ()), store, job.storage)
    if place:
        announce(f"nothing to do: {job.study} is complete ({place})")
        fetch = ("cluster", "fetch", cluster, study) if place == job.storage else ("report", job.study)
        suggest(command(*fetch, *in_store(store)))
        return
    if dry_run:
        submission = prepare_submission(spec, backend, job, [])
        commands = [shown(each) for each in backend.submission(submission)]
        print("\n".join(_dry_lines(submission, commands)), flush=True)
        return
    outcome = submit_job(spec, backend, job, home, announce)
    announce(_outcome_of(outcome))
    words = (cluster, study, *in_store(store))
    suggest(command("cluster", "logs", "-f", *words), command("cluster", "status", *words))


def _dry_lines(submission: Submission, commands: list[str]) -> Iterator[str]:
    for file in submission.files:
        yield f"# ---- {submission.folder / file.name}\n{file.text}"
    for name, content in job_files(submission.job).items():
        yield f"# ---- {submission.folder / name}: {len(content):,} bytes"
    for name, path in submission.job.files.items():
        yield f"# ---- {submission.folder / name}: {size_of({name: path}):,} bytes, from {path}"
    yield "# ---- commands"
    yield from commands
    yield "# nothing was written or run"


def _outcome_of(outcome: Submitted) -> str:
    if outcome.is_new:
        earlier = outcome.earlier
        again = f"; the earlier one {show_job(earlier)}, and this one resumes it" if earlier else ""
        return f"submitted {outcome.submission_id}{_number(outcome)}{again}"
    assert outcome.earlier is not None
    return f"nothing to do: {outcome.submission_id}{_number(outcome)} {show_job(outcome.earlier)}"


def _number(outcome: Submitted) -> str:
    return "" if outcome.handle == outcome.submission_id else f" (job {outcome.handle})"
