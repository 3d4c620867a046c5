"""Arguments several verbs share, and what a user may write for a study."""

import os
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from rse_study.errors import InputError
from rse_study.registry import did_you_mean

StudyArgument = Annotated[
    str, typer.Argument(metavar="STUDY", help="A YAML file, or the name of a shipped study.")
]
TrialArgument = Annotated[
    str, typer.Argument(metavar="TRIAL", help="A YAML file, or the name of a shipped trial.")
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("-o", "--override", metavar="PATH=VALUE", help="Change a setting; may be repeated."),
]
Store = Annotated[Path, typer.Option(help="Folder that holds the studies' folders.")]
DEFAULT_STORE = Path("studies")


def shipped_studies() -> Iterator[Path]:
    """The studies that come with the package, by name."""
    yield from sorted(Path(str(files("search_spaces"))).glob("*.yaml"))


def shipped_trials() -> Iterator[Path]:
    """The trials that come with the package, by name."""
    yield from sorted(Path(str(files("search_spaces"))).glob("trials/*.yaml"))


def study_file(study: str) -> Path:
    """The YAML file a user means: a path, or the name of a shipped study."""
    return _file(study, "study", shipped_studies())


def trial_file(trial: str) -> Path:
    """The YAML file a user means: a path, or the name of a shipped trial."""
    return _file(trial, "trial", shipped_trials())


def _file(given: str, kind: str, found: Iterable[Path]) -> Path:
    if Path(given).suffix in (".yaml", ".yml") or os.path.isfile(given):
        return Path(given)
    shipped = {path.stem: path for path in found}
    wanted = given.replace("-", "_")
    if wanted in shipped:
        return shipped[wanted]
    rule = f"a YAML file or the name of a shipped {kind}"
    raise InputError(
        f"no {kind} {given!r}", where=kind.upper(), rule=rule, remedy=did_you_mean(given, shipped)
    )


def study_folder(study: str, store: Path) -> Path:
    """The folder of a study that has run: the folder itself, its name, or its YAML file."""
    from rse_study.results.schema import ledger_path

    candidates = [Path(study), store / study]
    if Path(study).suffix in (".yaml", ".yml") or study.replace("-", "_") in {
        p.stem for p in shipped_studies()
    }:
        candidates.append(store / name_in(study_file(study)))
    for folder in candidates:
        if ledger_path(folder).is_file():
            return folder
    known = sorted(p.parent.name for p in store.glob("*/ledger.sqlite"))
    remedy = did_you_mean(study, known) if known else "Run it first: rse-study run STUDY"
    raise InputError(f"no study {study!r} has run", where=str(store), remedy=remedy)


def name_in(path: Path) -> str:
    """The name a study file gives itself."""
    from rse_study.study.reading import read_extended

    return str(read_extended(path).get("name", path.stem))
