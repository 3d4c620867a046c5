"""`init`: a study to begin with."""

from typing import Annotated

import typer


def init(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="The study's name.")] = "my-study",
    grid: Annotated[bool, typer.Option("--grid", help="A grid; default: a search.")] = False,
) -> None:
    """Write NAME.yaml, a study that runs on this machine as it is, and study.schema.json, by which editors check it."""
    from rse_study.cli.verbs.init import init_here

    init_here(name, grid)
