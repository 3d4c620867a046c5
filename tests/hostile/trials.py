"""Mutants of all kinds by number, each tried in a folder of its own."""

import gc
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from random import Random

from rse_study.cli import FIRST_COLLECTION
from tests.hostile.execution import Ended, Mutant, Watched
from tests.hostile.folders import archive, attack, ledger, notebook, sidecar
from tests.hostile.specs import cluster, contents, fields, override, study
from tests.hostile.weights import checkpoint, model

KINDS: dict[str, Callable[[Random, Path], Mutant]] = {
    "study": study, "cluster": cluster, "override": override, "ledger": ledger, "sidecar": sidecar,
    "archive": archive, "attack": attack, "notebook": notebook, "model": model, "checkpoint": checkpoint,
}  # fmt: skip
SHARES = {
    "study": 46, "cluster": 12, "override": 20, "ledger": 8, "sidecar": 6, "archive": 4, "attack": 2, "notebook": 1,
    "model": 0.6, "checkpoint": 0.4,
}  # fmt: skip
"""per cent of all mutants"""
# Imported once, in the process from which all others are forked.
IMPORTED = (
    "rse_study.cli.app",
    "rse_study.cli.verbs.validate",
    "rse_study.cli.verbs.check",
    "rse_study.cli.verbs.train",
)


def prepare(folder: Path) -> None:
    """Let commands see an empty data folder and cache, and no network."""
    os.environ |= {"RSE_STUDY_DATA": str(folder / "data"), "RSE_STUDY_CACHE": str(folder / "cache")}
    os.environ |= {"HF_HUB_OFFLINE": "1", "COLUMNS": "120", "HF_HOME": str(folder / "hub")}


def import_once() -> None:
    """Read and import what all mutants need."""
    for kind in ("study", "cluster"):
        contents(kind)
    fields()
    for module in IMPORTED:
        import_module(module)
    gc.set_threshold(FIRST_COLLECTION)
    gc.freeze()


def attempts(
    folder: Path, kinds: Sequence[str], count: int, seed: int, only: int | None = None
) -> Iterator[tuple[str, int, Ended]]:
    """Yield kind, number and end of every mutant of a seed."""
    import_once()
    whole = sum(SHARES[kind] for kind in kinds)
    for kind in kinds:
        numbers = range(max(1, round(count * SHARES[kind] / whole))) if only is None else [only]
        place = folder / kind
        place.mkdir()
        watched = Watched(partial(_made, kind, seed), place)
        try:
            for number in numbers:
                yield kind, number, watched.attempt(number)
        finally:
            watched.close()
            shutil.rmtree(place, ignore_errors=True)


def _made(kind: str, seed: int, number: int, folder: Path) -> Mutant:
    """Make the mutant of a number in a new folder."""
    own = folder / "mutant"
    shutil.rmtree(own, ignore_errors=True)
    own.mkdir()
    return KINDS[kind](Random(f"{seed}/{kind}/{number}"), own)
