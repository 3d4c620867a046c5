"""`check` and `compare`: what a study's numbers bear out, read from its ledger alone."""

from pathlib import Path
from typing import Annotated

import typer

from rse_study.cli.arguments import DEFAULT_STORE, RanStudyArgument, Store, study_folder
from rse_study.cli.writable import require_folder

RowArgument = Annotated[
    str,
    typer.Argument(
        metavar="STUDY[:ROW]", help="A study that has run, or one row of it: rse-table6:rho = 0.5."
    ),
]


def check(
    study: RanStudyArgument,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the table here as CSV and LaTeX, ours beside the paper's."),
    ] = None,
    store: Store = DEFAULT_STORE,
) -> int:
    """Compare a grid's rows with its baseline, and the paper's claims with the rows.

    Exit code 0 where every claim holds (at mini scale: the same direction), 1 where one is contradicted, 3 where the
    study is incomplete or a claim undecided.
    """
    from rse_study.cli.verbs.check import check_here

    if out:
        require_folder(out, where="--out")
    return check_here(study_folder(study, store), out)


def compare(
    first: RowArgument,
    second: RowArgument,
    metric: Annotated[
        str, typer.Option(help="task/split, for example STS-B/test; default: the studies' objective.")
    ] = "",
    unpaired: Annotated[bool, typer.Option("--unpaired", help="Compare means of unrelated seeds.")] = False,
    store: Store = DEFAULT_STORE,
) -> None:
    """First minus second: two rows, or all rows that two studies share, seed by seed."""
    from rse_study.cli.verbs.compare import compare_here

    compare_here(first, second, metric, unpaired, store)
