"""The body of `notebook`: a notebook about one study, ready to be worked in."""

import os
from pathlib import Path
from typing import Annotated

import typer

from analysis.notebooks import KINDS, filled_in, fitting_kind
from rse_study import open_study
from rse_study.cli import parameters
from rse_study.cli.arguments import require_file, study_folder
from rse_study.cli.terminal.screen import announce, suggest
from rse_study.errors import InputError
from rse_study.results.files.atomic import write_whole


def write_notebook(
    study: parameters.RanStudyArgument,
    kind: Annotated[
        str,
        typer.Argument(
            metavar="[KIND]",
            help="ablations, methods, robustness, search or cost; default: the one that fits.",
        ),
    ] = "",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The notebook; default: STUDY-KIND.ipynb.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    store: parameters.Store = parameters.DEFAULT_STORE,
) -> None:
    """Write a Jupyter notebook about a study.

    Whenever it runs, it reads the ledger again. You may change it freely. Needs the extra `notebooks`.
    """
    folder = study_folder(study, store)
    results = open_study(folder)
    chosen = kind or fitting_kind(results)
    path = out or Path(f"{results.name}-{chosen}.ipynb")
    require_file(path, where="--out")
    text = filled_in(chosen, folder.name, _seen_from(path.parent, folder.parent))
    if path.exists() and not force:
        remedy = "Name another file (--out FILE), or overwrite it: --force"
        raise InputError("already exists", where=str(path), rule="nothing is overwritten", remedy=remedy)
    write_whole(path, text)
    others = ", ".join(name for name in KINDS if name != chosen)
    announce(f"{path}: {KINDS[chosen]} (others: {others})")
    suggest(f"jupyter lab {path} (no Jupyter here? pip install 'rse-study[notebooks]')")


def _seen_from(place: Path, folder: Path) -> str:
    """Return a relative path where both lie below this folder, so that they can be moved together."""
    here, there = place.resolve(), folder.resolve()
    is_near = there.is_relative_to(Path.cwd()) and here.is_relative_to(Path.cwd())
    return Path(os.path.relpath(there, here)).as_posix() if is_near else str(there)
