"""Device time: what the attempts of a study occupied, summed in this one place."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rse_study.errors import InputError
from rse_study.results.files.failures import REBUILD

if TYPE_CHECKING:
    import pandas as pd  # `status` also sums it up, without pandas

INCLUDED = (
    "Device time is the time of each attempt, from start to end, times its devices (GPUs, or CPU threads without "
    "GPUs). It includes starting workers, and lost, failed and retired attempts. It excludes running attempts, "
    "evaluations that run as tasks of their own (attacks, fine-tuning, added ones) and idle machines."
)


def seconds_between(started: str, ended: str) -> float:
    """Return the seconds between two times of the ledger, 0 where one is missing.

    A clock that was set back makes no negative time. Raises InputError if a time is none.
    """
    if not started or not ended:
        return 0.0
    try:
        return max(0.0, (datetime.fromisoformat(ended) - datetime.fromisoformat(started)).total_seconds())
    except ValueError as error:
        raise InputError(f"damaged: {error}", where="the ledger's times", remedy=REBUILD) from None


def device_seconds(attempts: "pd.DataFrame", gpus: float) -> "pd.Series":
    """Return each attempt's device seconds; 0 for one that has not ended."""
    times = zip(attempts["started"], attempts["ended"], strict=True)
    return num_devices(attempts, gpus) * [seconds_between(started, ended) for started, ended in times]


def num_devices(attempts: "pd.DataFrame", gpus: float) -> "pd.Series":
    """Return the devices that each attempt held; `gpus` (per worker) is 0 on the CPU."""
    return devices_of(attempts["workers"], attempts["threads"], gpus).astype(float)


def devices_of(workers: Any, threads: Any, gpus: float) -> Any:
    """Return the number of GPUs, or of CPU threads where `gpus` per worker is 0."""
    return workers * (gpus or threads)


def gpus_per_worker(of_cells: Iterable[Mapping[str, Any]], of_runs: Sequence[Mapping[str, Any]]) -> float:
    """Return GPUs per worker; an old ledger has one if it used a GPU, else 0."""
    said = of_runs[-1].get("gpus") if of_runs else None
    if said is not None:
        return float(said)
    return float(any(where.get("device_type") == "cuda" for where in of_cells))
