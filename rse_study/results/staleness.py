"""Stale cells: complete ones made by other software than the newest run's."""

from typing import Any

import pandas as pd

COLUMNS = ["identity", "what", "was", "now"]


def stale(cells: pd.DataFrame, provenance: list[dict[str, Any]]) -> pd.DataFrame:
    """Return a row per complete cell and package that differs from the newest run's.

    A changed code revision does not count: what it changes in the numbers is part of a cell's identity.
    """
    now = provenance[-1].get("packages", {}) if provenance else {}
    complete = cells[cells["status"] == "complete"]
    rows = [
        (identity, package, packages[package], now[package])
        for identity, content in zip(complete["identity"], complete["provenance"], strict=True)
        for packages in [content.get("packages", {})]
        for package in now
        if package in packages and packages[package] != now[package]
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def describe(stale_cells: pd.DataFrame) -> str:
    """Describe stale cells in a sentence; empty if there are none."""
    if stale_cells.empty:
        return ""
    groups = stale_cells.groupby(["what", "was", "now"], sort=True)["identity"].nunique()
    texts = [f"{count} made with {what} {was} (now {now})" for (what, was, now), count in groups.items()]
    number = stale_cells["identity"].nunique()
    return f"{number} stale {'cell' if number == 1 else 'cells'}: {'; '.join(texts)}."
