"""Stale cells: complete ones made by other software than the newest run's."""

from typing import Any

import pandas as pd


def describe_stale(cells: pd.DataFrame, provenance: list[dict[str, Any]]) -> str:
    """Say which complete cells were made with other packages than the newest run's.

    Empty if there are none. A changed code revision does not count: what it changes in the numbers is part of a cell's
    identity.
    """
    now = provenance[-1].get("packages", {}) if provenance else {}
    complete = cells[cells["status"] == "complete"]
    found: dict[tuple[str, str, str], set[str]] = {}
    for identity, content in zip(complete["identity"], complete["provenance"], strict=True):
        for package, was in content.get("packages", {}).items():
            if was != now.get(package, was):
                found.setdefault((package, was, now[package]), set()).add(identity)
    texts = [
        f"{len(own)} made with {what} {was} (now {new})" for (what, was, new), own in sorted(found.items())
    ]
    number = len(set().union(*found.values()))
    return f"{number} stale {'cell' if number == 1 else 'cells'}: {'; '.join(texts)}." if found else ""
