"""Names of cells for people, and how many there are of which kind."""

from collections.abc import Mapping


def name_of(stage: str, trial: int, seed: int, label: str) -> str:
    """Return a cell's name, with its stage where that is not the first one.

    Parameters
    ----------
    stage
        grid, search or confirm.
    trial
        The trial's number; below 0 for a base that is no trial.
    seed
        The cell's seed; a search has one for all trials, which is not shown.
    label
        The row's name in a grid, or of what is confirmed.

    Examples
    --------
    >>> name_of("grid", 0, 0, "SimCSE")
    'row SimCSE seed 0'
    >>> name_of("search", 3, 0, "")
    'trial 3'
    >>> name_of("confirm", 3, 1, "")
    'trial 3 seed 1 (confirm)'
    >>> name_of("confirm", -1, 1, "")
    'base seed 1 (confirm)'
    """
    if stage == "grid":
        return f"row {label or trial} seed {seed}"
    if stage == "confirm":
        return f"{label or 'base' if trial < 0 else f'trial {trial}'} seed {seed} (confirm)"
    return f"trial {trial}"


def describe_counts(counts: Mapping[str, int], is_live: bool) -> str:
    """Say `Reader.counts()` in words.

    What runs without a live process that runs it was interrupted.
    """
    shown = {name.replace("_", " "): number for name, number in counts.items() if number}
    if not is_live and "running" in shown:
        shown["interrupted"] = shown.pop("running")
    planned = shown.pop("planned", 0)
    return f"{planned} cells: " + (
        ", ".join(f"{number} {name}" for name, number in shown.items()) or "none yet"
    )
