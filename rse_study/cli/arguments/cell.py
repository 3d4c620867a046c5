"""The cell a user means: a number, trial/seed, or the beginning of an identity."""

import re
from pathlib import Path
from typing import Any

import pandas as pd

from rse_study.errors import InputError

MIN_PREFIX = 6
RULE = f"a trial's number, TRIAL/SEED, or the first {MIN_PREFIX} or more digits of an identity"
SHOWN = 6


def find_cell(cells: pd.DataFrame, wanted: str, study_dir: Path) -> dict[str, Any]:
    """Return the row of `cells` that is meant, a retired one only where no other is."""
    found = _matching(cells[~cells["retired"]], wanted)
    if found.empty:
        found = _matching(cells, wanted)
    if len(found) == 1:
        row: dict[str, Any] = found.iloc[0].to_dict()
        return row
    known = _names_of(cells if found.empty else found)
    what = f"no cell {wanted!r}" if found.empty else f"{wanted!r} names {len(found)} cells"
    raise InputError(what, where=str(study_dir), rule=RULE, remedy=f"Cells: {known}")


def _matching(cells: pd.DataFrame, wanted: str) -> pd.DataFrame:
    pair = re.fullmatch(r"(-?\d+)/(\d+)", wanted)
    if pair:
        return cells[(cells["trial"] == int(pair[1])) & (cells["seed"] == int(pair[2]))]
    of_trial = cells[cells["trial"].astype(str) == wanted]
    if of_trial.empty and len(wanted) >= MIN_PREFIX:
        return cells[cells["identity"].str.startswith(wanted)]
    searched = of_trial[of_trial["stage"] == "search"]  # and not what confirms it
    return of_trial if searched.empty else searched


def _names_of(cells: pd.DataFrame) -> str:
    names = [f"{row.trial}/{row.seed} ({row.identity[:12]})" for row in cells.head(SHOWN).itertuples()]
    return ", ".join([*names, "..."] if len(cells) > SHOWN else names) or "none yet"
