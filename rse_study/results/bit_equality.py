"""Reasons why a number that is computed twice may differ, and stale cells."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

NEAR = 1e-6
"""Largest difference (relative beyond 1) of results where equal bits are not promised."""
SIMILARITY_DIGITS = "similarity_digits"
"""Key of the decimals by which a cell's cosines were ranked; a cell begun before decision 0016 lacks it."""
UNLIKE = "unlike"
"""Key of the differences between the machines of one cell: its workers', or those it was resumed on."""
NAMES = {
    "kernels": "CPU kernels", "processor": "processor", "settings": "library settings", "device": "device",
    "device_type": "kind of device", "precision": "precision", "workers": "number of workers",
    "threads": "number of threads", "python": "Python", SIMILARITY_DIGITS: "decimals of ranked cosines",
}  # fmt: skip
"""Provenance keys that affect a computation, besides package and library versions, with readable names."""


def what_decides(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return all that the last bits depend on; None if not recorded (decision 0040)."""
    said = {name: provenance.get(key) for key, name in NAMES.items()}
    return {**said, **provenance.get("packages", {}), **provenance.get("libraries", {})}


def what_differs(here: Mapping[str, Any], there: Mapping[str, Any]) -> tuple[str, ...]:
    """List the differences of two provenances that may change the last bits.

    Without any, numbers are promised equal to the bit, else near (`NEAR`). What either lacks counts as a difference.
    """
    ours, theirs = what_decides(here), what_decides(there)
    pairs = {name: (ours.get(name), theirs.get(name)) for name in ours | theirs}
    differences = [
        f"other {name}: {one} here, {other} there"
        for name, (one, other) in pairs.items()
        if one != other and None not in (one, other)
    ]
    for place, where, provenance in ((0, "here", here), (1, "there", there)):
        if silent := [name for name, pair in pairs.items() if pair[place] is None]:
            differences.append(f"not on record {where}: {', '.join(silent)}")
        if changed := provenance.get(UNLIKE):
            differences.append(f"more than one kind of machine {where} ({'; '.join(changed)})")
    return tuple(differences)


def describe_machines(provenances: Iterable[Mapping[str, Any]]) -> str:
    """Say in a sentence that cells ran on unlike machines; empty if they did not."""
    said = [one for one in provenances if "kernels" in one]
    kinds = Counter(_machine(one) for one in said)
    if len(kinds) < 2 and not any(one.get(UNLIKE) for one in said):
        return ""
    counts = "; ".join(f"{count} on {kind}" for kind, count in sorted(kinds.items()))
    return f"Cells ran on different kinds of machine, which need not agree bit by bit: {counts}."


def describe_devices(provenances: Iterable[Mapping[str, Any]]) -> str:
    """Say in a sentence that cells ran on GPUs and on CPUs; empty if they did not."""
    kinds = {one.get("device_type") for one in provenances} - {None}
    if len(kinds) < 2:
        return ""
    return (
        "Some cells ran on a GPU and some on a CPU, which draw dropout differently: "
        "between them, a common seed pairs little, and intervals are wider."
    )


def _machine(said: Mapping[str, Any]) -> str:
    if said.get(UNLIKE):
        return "what changed within the cell (machine, threads or versions)"
    parts = (said.get("device"), said.get("processor"), f"{said['kernels']} kernels", said.get("settings"))
    return ", ".join(part for part in parts if part and part != "none")


def describe_stale(cells: "pd.DataFrame", provenance: list[dict[str, Any]]) -> str:
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
