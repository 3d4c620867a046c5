"""Device time: what the attempts of a study occupied.

The one sum of that name: on pages, in the index, in notebooks, in `plan` and in `status`.
"""

from typing import Any

import pandas as pd

INCLUDED = (
    "Device time is what attempts occupied: from the start of each to its end, times its devices (GPUs, else CPU "
    "threads). Starting workers and lost, failed and retired attempts count; what still runs, evaluations after "
    "training and idle machines do not."
)


def device_seconds(attempts: pd.DataFrame, gpus: float) -> pd.Series:
    """Return what each attempt occupied, in seconds; 0 of one that has not ended.

    Parameters
    ----------
    attempts
        As `Reader.attempts` has them.
    gpus
        Of each worker, by `gpus_per_worker`.
    """
    started, ended = (
        pd.to_datetime(attempts[name].replace("", None), utc=True, format="ISO8601")
        for name in ("started", "ended")
    )
    return (ended - started).dt.total_seconds().fillna(0.0) * num_devices(attempts, gpus)


def num_devices(attempts: pd.DataFrame, gpus: float) -> pd.Series:
    """Return what each attempt held: (parts of) GPUs, or else CPU threads.

    Parameters
    ----------
    attempts
        With `workers` and `threads`.
    gpus
        Of each worker; 0 where it trains on the CPU.
    """
    return (attempts["workers"] * (gpus or attempts["threads"])).astype(float)


def gpus_per_worker(cells: pd.DataFrame, provenance: list[dict[str, Any]]) -> float:
    """Return the GPUs of a worker, as the newest run has them; 0 on the CPU.

    An old ledger does not say: then it is one, where a cell was trained on a GPU.

    Parameters
    ----------
    cells
        As `Reader.cells` has them.
    provenance
        As `Reader.provenance` has it.
    """
    said = provenance[-1].get("gpus") if provenance else None
    if said is not None:
        return float(said)
    return float(any(where.get("device_type") == "cuda" for where in cells["provenance"]))
