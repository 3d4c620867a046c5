"""`replay`: is what a study says about a cell so?"""

from pathlib import Path
from typing import Annotated

import typer

from rse_study.cli.arguments import DEFAULT_STORE, RanStudyArgument, Store, study_folder


def replay(
    study: RanStudyArgument,
    cell: Annotated[
        str,
        typer.Argument(metavar="CELL", help="A trial's number, TRIAL/SEED, or an identity's first digits."),
    ],
    out: Annotated[
        Path | None, typer.Option(help="Keep the cell that is trained anew in this new folder.")
    ] = None,
    store: Store = DEFAULT_STORE,
) -> int:
    """Train a cell again and compare every number with the ledger's; the study's own files are left alone.

    With the recorded workers and threads on the same machine the numbers are equal to the last bit: exit code 0.
    Exit code 1 where they are not, with the first differences.
    """
    from rse_study.cli.verbs.replay import replay_here

    return replay_here(study_folder(study, store), cell, out)
