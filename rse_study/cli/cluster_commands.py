"""Signature and help of every `cluster` command, by the rules of `commands`."""

from pathlib import Path
from typing import Annotated

import typer

from rse_study.cli.arguments.completion import DEFAULT_STORE
from rse_study.cli.arguments.declarations import (
    ClusterArgument,
    ClusterStudyArgument,
    MaxCost,
    MaxHours,
    Overrides,
    Revise,
    Store,
    StudyArgument,
)
from rse_study.cli.commands import Command


def cluster_render(
    spec: ClusterArgument,
    study: StudyArgument,
    override: Overrides = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the files here, with everything the job needs.")
    ] = None,
) -> None:
    """Print what Slurm, KubeRay or Ray's launcher would be given.

    Contacts no cluster.
    """
    from rse_study.cli.verbs.cluster.render import render_cluster

    render_cluster(spec, study, override or (), out)


def cluster_validate(
    spec: ClusterArgument,
    study: ClusterStudyArgument = "",
    override: Overrides = None,
) -> None:
    """Report every problem of a cluster, and of a study on it.

    Works offline: checks the spec, what the study needs from it, and a launcher's file with Ray's own validators; for
    Slurm and KubeRay, names their own dry run. Exit code 2, with a line for each problem.
    """
    from rse_study.cli.verbs.cluster.validate import validate_cluster

    validate_cluster(spec, study, override or ())


def cluster_submit(
    spec: ClusterArgument,
    study: StudyArgument,
    override: Overrides = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the files and the commands; change nothing.")
    ] = False,
    max_hours: MaxHours = None,
    max_cost: MaxCost = None,
    store: Store = DEFAULT_STORE,
    revise: Revise = False,
) -> None:
    """Run or resume a study on a cluster.

    The job's name depends on the study's content, so a running or completed study is not submitted twice. A study
    that ended early is submitted again and continues where it stopped.
    """
    from rse_study.cli.verbs.cluster.submit import submit_study

    submit_study(spec, study, override or (), dry_run, max_hours, store, is_revised=revise)


def cluster_status(
    spec: ClusterArgument,
    study: StudyArgument,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    store: Store = DEFAULT_STORE,
) -> None:
    """Show a study's job, its nodes and cells, and its cost so far."""
    from rse_study.cli.verbs.cluster.status import show_cluster_status

    show_cluster_status(spec, study, as_json, store)


def cluster_logs(
    spec: ClusterArgument,
    study: StudyArgument,
    is_followed: Annotated[
        bool, typer.Option("-f", "--follow", help="Follow until the job ends; Ctrl-C does not stop the job.")
    ] = False,
    store: Store = DEFAULT_STORE,
) -> None:
    """Show what a study's newest job printed."""
    from rse_study.cli.verbs.cluster.logs import show_log

    show_log(spec, study, is_followed, store)


def cluster_fetch(spec: ClusterArgument, study: ClusterStudyArgument, store: Store = DEFAULT_STORE) -> None:
    """Copy a study from its storage, and write its report.

    Also works while the study runs. Models are copied only when `export` or `evaluate` needs one.
    """
    from rse_study.cli.verbs.cluster.fetch import fetch_study

    fetch_study(spec, study, store)


def cluster_down(
    spec: ClusterArgument,
    study: ClusterStudyArgument = "",
    is_confirmed: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the commands; change nothing on the cluster.")
    ] = False,
    store: Store = DEFAULT_STORE,
) -> None:
    """End a study's job, and the cluster if nobody else uses it.

    Without STUDY, ends all your jobs on the cluster. Committed results are kept, and `submit` continues from them.
    """
    from rse_study.cli.verbs.cluster.down import end_jobs

    end_jobs(spec, study, is_confirmed, dry_run, store)


CLUSTER_COMMANDS: dict[str, Command] = {
    "render": cluster_render,
    "validate": cluster_validate,
    "submit": cluster_submit,
    "status": cluster_status,
    "logs": cluster_logs,
    "fetch": cluster_fetch,
    "down": cluster_down,
}
