"""The body of `cluster down`: jobs ended, and what was started for them."""

from typing import Annotated

import typer

from rse_study.cli import parameters
from rse_study.cli.terminal.screen import announce, command, in_store, suggest
from rse_study.cli.verbs.cluster.study_on_cluster import show_job, study_name
from rse_study.cluster.backends import backend_of
from rse_study.cluster.job_report import JobReport, of_study, stem_of
from rse_study.cluster.program import shown
from rse_study.cluster.reading import read_cluster
from rse_study.cluster.submission_record import cluster_home
from rse_study.errors import InputError


def end_jobs(
    cluster: parameters.ClusterArgument,
    study: parameters.OptionalStudyArgument = "",
    is_confirmed: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the commands; change nothing on the cluster.")
    ] = False,
    store: parameters.Store = parameters.DEFAULT_STORE,
) -> None:
    """End a study's job, and the cluster if nobody else uses it.

    Without STUDY, ends all your jobs on the cluster. Committed results are kept, and `submit` continues from them.
    """
    spec = read_cluster(cluster)
    backend = backend_of(spec, cluster_home(store, spec.name))
    active = [report for report in backend.jobs() if report.is_active]
    jobs = _ours(active, study)
    is_last = len(jobs) == len(active)
    commands = backend.ending(jobs, is_last)
    if not commands:
        announce(f"nothing to end on {spec.name}")
        return
    for report in jobs:
        announce(f"{report.submission_id} {show_job(report)}")
    for each in commands:
        print(f"    {shown(each)}", flush=True)
    if dry_run:
        announce("# nothing was run")
        return
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


def _ours(reports: list[JobReport], study: str) -> list[JobReport]:
    if study:
        return of_study(reports, study_name(study))
    return [report for report in reports if stem_of(report.submission_id).startswith("rse-")]
