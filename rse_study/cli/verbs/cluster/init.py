"""The body of `cluster init`: a shipped cluster's two files, to be changed here."""

from pathlib import Path
from typing import Annotated

import typer

from rse_study.cli.arguments.writable import require_folder
from rse_study.cli.terminal.next_step import command, suggest
from rse_study.cli.terminal.screen import announce
from rse_study.cluster.checking.template import placeholders_of
from rse_study.cluster.reading import read_cluster
from rse_study.cluster.shipped_copy import copy_shipped


def write_cluster(
    shipped: Annotated[str, typer.Argument(metavar="SHIPPED", help="A shipped cluster: slurm, kuberay ...")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new cluster's name.")],
) -> None:
    """Copy a shipped cluster, NAME.yaml and its template, into this folder."""
    require_folder(Path(), where="this folder:")
    spec, template = copy_shipped(shipped, name)
    announce(f"{spec}: nodes, prices, places. {template}: everything else")
    if examples := ", ".join(placeholders_of(read_cluster(name))):
        announce(f"replace in them: {examples}")
    suggest(command("cluster", "validate", name, "STUDY"))
