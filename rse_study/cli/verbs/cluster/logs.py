"""The body of `cluster logs`: the output of a study's newest job."""

from typing import Annotated

import typer

from rse_study.cli import parameters
from rse_study.cli.verbs.cluster.study_on_cluster import study_on_cluster


def show_log(
    cluster: parameters.ClusterArgument,
    study: parameters.StudyArgument,
    is_followed: Annotated[
        bool, typer.Option("-f", "--follow", help="Follow until the job ends; Ctrl-C does not stop the job.")
    ] = False,
    store: parameters.Store = parameters.DEFAULT_STORE,
) -> None:
    """Show what a study's newest job printed."""
    where = study_on_cluster(cluster, study, store)
    where.backend.show_log(where.jobs[-1], is_followed)
