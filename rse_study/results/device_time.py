"""Device time: what the attempts of a study occupied, summed in this one place."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rse_study.results.files.schema import damaged
from rse_study.results.records import AttemptRecord

if TYPE_CHECKING:
    import pandas as pd  # `status` also sums it up, without pandas

INCLUDED = (
    "Device time is the time of each attempt, from start to end, times its devices (GPUs, or CPU threads without "
    "GPUs). It includes starting workers, and lost, failed and retired attempts. It excludes running attempts, "
    "evaluations that run as tasks of their own (attacks, fine-tuning, added ones) and idle machines."
)

GpusAt = Callable[[str], float]
"""Returns the GPUs of a worker in the run of a time: one run may share GPUs where another did not."""


def seconds_between(started: str, ended: str) -> float:
    """Return the seconds between two times of the ledger, 0 where one is missing.

    A clock that was set back makes no negative time. Raises InputError if a time is none.
    """
    if not started or not ended:
        return 0.0
    try:
        return max(0.0, (datetime.fromisoformat(ended) - datetime.fromisoformat(started)).total_seconds())
    except ValueError as error:
        raise damaged(f"damaged: {error}", "the ledger's times") from None


def device_seconds(attempts: "pd.DataFrame", gpus: GpusAt) -> "pd.Series":
    """Return each attempt's device seconds; 0 for one that has not ended."""
    times = zip(attempts["started"], attempts["ended"], strict=True)
    return num_devices(attempts, gpus) * [seconds_between(started, ended) for started, ended in times]


def num_devices(attempts: "pd.DataFrame", gpus: GpusAt) -> "pd.Series":
    """Return the devices that each attempt held; `gpus` (per worker) is 0 on the CPU."""
    shares = attempts["started"].map(gpus).astype(float)
    return attempts["workers"] * shares.where(shares > 0, attempts["threads"])


def seconds_of(attempt: AttemptRecord, gpus: GpusAt) -> float:
    """Return the device seconds of an attempt; 0 if it has not ended."""
    devices = attempt.workers * (gpus(attempt.started) or attempt.threads)  # GPUs, or else CPU threads
    return seconds_between(attempt.started, attempt.ended) * devices


def gpus_per_worker(of_cells: Iterable[Mapping[str, Any]], of_runs: Sequence[Mapping[str, Any]]) -> GpusAt:
    """Return a function that says how many GPUs a worker had at a time.

    The last run that had begun by then says so; one of an old ledger has one if a cell used a GPU, else 0.
    """
    unsaid = float(any(where.get("device_type") == "cuda" for where in of_cells))
    said = [(run.get("at", ""), run.get("gpus")) for run in of_runs]
    runs = [(at, unsaid if gpus is None else gpus) for at, gpus in said] or [("", unsaid)]
    return lambda time: next((gpus for at, gpus in reversed(runs) if at <= time), runs[0][1])
