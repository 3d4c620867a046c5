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
SEVERAL = "what changed within the cell (machine, threads or versions)"
NAMES = {
    "kernels": "CPU kernels",
    "processor": "processor",
    "settings": "library settings",
    "device_type": "kind of device",
    "device": "device",
    "precision": "precision",
    "workers": "number of workers",
    "threads": "number of threads",
    "python": "Python",
    SIMILARITY_DIGITS: "decimals of ranked cosines",
}
"""What a provenance says of a computation, beside the versions of its packages and libraries."""


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
    sides = {"here": what_decides(here), "there": what_decides(there)}
    names = dict.fromkeys(name for said in sides.values() for name in said)
    pairs = {name: [said.get(name) for said in sides.values()] for name in names}
    others = (
        f"other {name}: {ours} here, {theirs} there"
        for name, (ours, theirs) in pairs.items()
        if ours != theirs and None not in (ours, theirs)
    )
    silent = {where: [name for name in names if said.get(name) is None] for where, said in sides.items()}
    mixed = {"here": here.get(UNLIKE), "there": there.get(UNLIKE)}
    return (
        *others,
        *(f"not on record {where}: {', '.join(lacking)}" for where, lacking in silent.items() if lacking),
        *(
            f"more than one kind of machine {where} ({'; '.join(what)})"
            for where, what in mixed.items()
            if what
        ),
    )


def describe_machines(provenances: Iterable[Mapping[str, Any]]) -> str:
    """Say in a sentence that cells ran on unlike machines; nothing where they did not.

    Those that do not say what they ran on are left out.
    """
    kinds = Counter(_machine(one) for one in provenances if "kernels" in one)
    if len(kinds) < 2 and SEVERAL not in kinds:
        return ""
    counts = "; ".join(f"{count} on {kind}" for kind, count in sorted(kinds.items()))
    return f"Cells ran on unlike machines, between which no bits are promised: {counts}."


def _machine(provenance: Mapping[str, Any]) -> str:
    if provenance.get(UNLIKE):
        return SEVERAL
    card = f"{provenance['device']}, " if provenance.get("device_type") == "cuda" else ""
    settings = provenance.get("settings", "none")
    return (
        f"{card}{provenance.get('processor')} with {provenance['kernels']} kernels"
        f"{'' if settings == 'none' else f' ({settings})'}"
    )
