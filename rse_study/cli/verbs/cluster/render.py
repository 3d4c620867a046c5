"""The body of `cluster render`: the files a cluster would be cluster."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from rse_study.cli import parameters
from rse_study.cli.arguments.paths import study_file
from rse_study.cli.terminal.screen import command, suggest, with_overrides
from rse_study.cluster.backend import Submission
from rse_study.cluster.checking.check import check_cluster, check_study_on
from rse_study.cluster.job import Job, RenderedFile, job_of
from rse_study.cluster.reading import read_cluster
from rse_study.cluster.render import render
from rse_study.cluster.spec import ClusterSpec
from rse_study.cluster.submit import write_submission
from rse_study.cluster.wheel import wheel_of_this_version
from rse_study.errors import InputErrors
from rse_study.study.checking.validation import read_study
from rse_study.study.definition.content import read_content

MOST_CHARACTERS = 20_000  # of a file on the screen: a manifest may hold a whole wheel


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
    job = read_job(spec, study, overrides)
    files = render(spec, job)
    if out is None:
        for file in files:
            print(f"# ---- {file.name}\n{_shown(file)}")
        return
    for path in write_submission(Submission(job, files, out)):
        print(path)
    suggest(command("cluster", "submit", cluster, study, *with_overrides(overrides)))


def read_job(spec: ClusterSpec, study: str, overrides: Sequence[str], limits: Sequence[str] = ()) -> Job:
    """Return the job that runs a study on a cluster; `limits` go to its `run`."""
    path = study_file(study)
    checked = read_study(path, overrides)
    where = f"cluster {spec.name}"
    problems = [*check_cluster(spec, where=where), *check_study_on(spec, checked, where=where)]
    if problems:
        raise InputErrors(problems)
    return job_of(checked, read_content(path, overrides), spec, wheel_of_this_version(), limits)


def _shown(file: RenderedFile) -> str:
    if len(file.text) <= MOST_CHARACTERS:
        return file.text
    return f"{file.text[:MOST_CHARACTERS]}\n... {len(file.text):,} characters in all: --out DIR writes them\n"
