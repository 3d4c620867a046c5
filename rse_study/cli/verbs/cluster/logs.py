"""What `cluster logs` does: print what a study's newest job printed."""

from pathlib import Path

from rse_study.cli.verbs.cluster.study_on_cluster import study_on_cluster


def show_log(given: str, study: str, is_followed: bool, store: Path) -> None:
    """Print a job's output.

    Parameters
    ----------
    given
        The cluster: a YAML file or the name of a shipped one.
    study
        A YAML file or a study's name.
    is_followed
        Go on until the job ends.
    store
        Folder that holds the studies' folders, and what is known of clusters.
    """
    where = study_on_cluster(given, study, store)
    where.backend.show_log(where.jobs[-1], is_followed)
