"""What people are told of cells: their names, and how many there are of which kind."""

from collections.abc import Mapping

import pandas as pd

from rse_study.results.records import StudyRecord
from rse_study.results.row_names import names_of_cells


def name_of(stage: str, trial: int, seed: int, name: str) -> str:
    """A cell's name: `row SimCSE seed 0`, `trial 3`, `trial 3 seed 1 (confirm)`, `base seed 1 (confirm)`.

    Parameters
    ----------
    stage
        grid, search or confirm.
    trial
        Its number; below 0 of a base that is no trial of its search.
    seed
        The cell's.
    name
        What its row is called (`results.row_names`).
    """
    if stage == "grid":
        return f"row {name} seed {seed}"
    if stage == "confirm":
        return f"{name if trial < 0 else f'trial {trial}'} seed {seed} (confirm)"
    return f"trial {trial}"


def names_by_identity(study: StudyRecord, cells: pd.DataFrame) -> dict[str, str]:
    """What each cell of `Reader.cells` is called, by its identity."""
    columns = (cells[column] for column in ("identity", "stage", "trial", "seed"))
    rows = zip(*columns, names_of_cells(study, cells), strict=True)
    return {identity: name_of(stage, trial, seed, name) for identity, stage, trial, seed, name in rows}


def told_counts(counts: Mapping[str, int], is_live: bool) -> str:
    """`Reader.counts()` in words. What runs without a live process that runs it was interrupted."""
    shown = {name.replace("_", " "): number for name, number in counts.items() if number}
    if not is_live and "running" in shown:
        shown["interrupted"] = shown.pop("running")
    planned = shown.pop("planned", 0)
    return f"{planned} cells: " + (
        ", ".join(f"{number} {name}" for name, number in shown.items()) or "none yet"
    )
