"""Names of cells for people."""

from collections.abc import Sequence

from rse_study.results.records import CellRecord
from rse_study.results.row_names import names_of_records
from rse_study.results.study_record import StudyRecord


def name_of(stage: str, trial: int, seed: int, name: str, *, shows_seeds: bool = False) -> str:
    """Return a cell's name, with its stage where that is not the first one.

    A trial below 0 is none: a base, or a point of the path, called `name`.

    >>> name_of("grid", 0, 0, "SimCSE")
    'row SimCSE seed 0'
    >>> name_of("search", 3, 0, "")
    'trial 3'
    >>> name_of("search", 3, 6, "", shows_seeds=True)
    'trial 3 seed 6'
    >>> name_of("confirm", 3, 1, "")
    'trial 3 seed 1 (confirm)'
    >>> name_of("path", -2, 1, "base with alpha")
    'base with alpha seed 1 (path)'
    """
    if stage == "grid":
        return f"row {name} seed {seed}"
    if stage in ("confirm", "path"):
        return f"{name if trial < 0 else f'trial {trial}'} seed {seed} ({stage})"
    return f"trial {trial} seed {seed}" if shows_seeds else f"trial {trial}"


def names_by_identity(study: StudyRecord, cells: Sequence[CellRecord]) -> dict[str, str]:
    """Return the names of cells, by identity."""
    rows = names_of_records(study, cells)
    shows_seeds = bool(study.search_seeds)
    return {
        one.identity: name_of(one.stage, one.trial, one.seed, name, shows_seeds=shows_seeds)
        for one, name in zip(cells, rows, strict=True)
    }
