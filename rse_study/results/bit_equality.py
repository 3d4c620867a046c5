"""Whether a number that is computed twice is promised equal to the bit, or near.

`what_differs` says it of replays, of rows that studies share and of cells that are resumed; keys of shared scores and
generator outputs are made of `what_decides`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

NEAR = 1e-6
"""How far apart, of numbers beyond 1 relatively, results may be where bits are not promised."""
SIMILARITY_DIGITS = "similarity_digits"
"""Key of the decimals by which a cell's cosines were ranked; a cell begun before decision 0016 lacks it."""
UNLIKE = "unlike"
"""Key of what differed between the machines that one cell ran on: its workers', or those it was resumed on."""
NAMES = {
    "kernels": "CPU kernels", "processor": "processor", "settings": "library settings", "device": "device",
    "device_type": "kind of device", "precision": "precision", "workers": "number of workers",
    "threads": "number of threads", "python": "Python", SIMILARITY_DIGITS: "decimals of ranked cosines",
}  # fmt: skip
"""What a provenance says of a computation, beside the versions of packages and libraries."""


def what_decides(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return everything in a provenance that last bits depend on, by readable name.

    None stands for what it does not say, as that of a cell from before decision 0040.
    """
    said = {name: provenance.get(key) for key, name in NAMES.items()}
    return {**said, **provenance.get("packages", {}), **provenance.get("libraries", {})}


def what_differs(here: Mapping[str, Any], there: Mapping[str, Any]) -> tuple[str, ...]:
    """Name what differs between two provenances and may change the last bits.

    Where nothing does, numbers are promised equal to the bit; else they are near (`NEAR`) at best. What one of the two
    does not say counts as different.
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
    """Say in a sentence that cells ran on unlike machines; nothing where they did not.

    Those that do not say what they ran on are left out.
    """
    said = [one for one in provenances if "kernels" in one]
    kinds = Counter(_machine(one) for one in said)
    if len(kinds) < 2 and not any(one.get(UNLIKE) for one in said):
        return ""
    counts = "; ".join(f"{count} on {kind}" for kind, count in sorted(kinds.items()))
    return f"Cells ran on unlike machines, between which no bits are promised: {counts}."


def _machine(said: Mapping[str, Any]) -> str:
    if said.get(UNLIKE):
        return "what changed within the cell (machine, threads or versions)"
    parts = (said.get("device"), said.get("processor"), f"{said['kernels']} kernels", said.get("settings"))
    return ", ".join(part for part in parts if part and part != "none")
