"""The body of `cluster logs`: the output of a study's newest job."""

from pathlib import Path

from rse_study.cli.verbs.cluster.study_on_cluster import study_on_cluster


def show_log(given: str, study: str, is_followed: bool, store: Path) -> None:
    """Print a job's output, if asked for until the job ends."""
    where = study_on_cluster(given, study, store)
    where.backend.show_log(where.jobs[-1], is_followed)
