"""The body of `cluster render`: the files a cluster would be cluster."""

from pathlib import Path
from typing import Annotated

import typer

from rse_study.cli import parameters
from rse_study.cli.arguments.study import study_file
from rse_study.cli.terminal.next_step import command, suggest, with_overrides
from rse_study.cluster.backend import Submission
from rse_study.cluster.job import RenderedFile
from rse_study.cluster.reading import read_cluster
from rse_study.cluster.render import render
from rse_study.cluster.submit import read_job, write_submission

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
    job = read_job(spec, study_file(study), overrides)
    files = render(spec, job)
    if out is None:
        for file in files:
            print(f"# ---- {file.name}\n{_shown(file)}")
        return
    for path in write_submission(Submission(job, files, out)):
        print(path)
    suggest(command("cluster", "submit", cluster, study, *with_overrides(overrides)))


def _shown(file: RenderedFile) -> str:
    if len(file.text) <= MOST_CHARACTERS:
        return file.text
    return f"{file.text[:MOST_CHARACTERS]}\n... {len(file.text):,} characters in all: --out DIR writes them\n"
