"""What people are told of cells: their names, and how many there are of which kind."""

from collections.abc import Mapping


def name_of(stage: str, trial: int, seed: int, label: str) -> str:
    """`row SimCSE seed 0`, `trial 3`, `trial 3 seed 1 (confirm)`; a base that is no trial: `base seed 1 (confirm)`."""
    if stage == "grid":
        return f"row {label or trial} seed {seed}"
    if stage == "confirm":
        return f"{label or 'base' if trial < 0 else f'trial {trial}'} seed {seed} (confirm)"
    return f"trial {trial}"


def told_counts(counts: Mapping[str, int], is_live: bool) -> str:
    """`Reader.counts()` in words. What runs without a live process that runs it was interrupted."""
    shown = {name.replace("_", " "): number for name, number in counts.items() if number}
    if not is_live and "running" in shown:
        shown["interrupted"] = shown.pop("running")
    planned = shown.pop("planned", 0)
    return f"{planned} cells: " + (
        ", ".join(f"{number} {name}" for name, number in shown.items()) or "none yet"
    )
