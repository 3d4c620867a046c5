"""Ray on this machine, quiet and on loopback with its dashboard, or a cluster."""

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import ray

from rse_study.errors import InputError, first_line
from rse_study.study.definition.config import Resources

OBJECT_STORE_BYTES = 100_000_000  # metrics and paths travel through it, never tensors
# Trial actors only wait for their workers: on this machine they count against a resource of their own, so that
# every CPU is left to training.
DRIVER = "rse_driver"
MAX_DRIVERS = 1000
CONNECT_SECONDS = 5.0
START_ATTEMPTS = (
    3  # on a busy machine Ray's first process may end, or take too long, before the others hear of it
)
ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_TRAIN_V2_ENABLED": "1",
    "RAY_DEDUP_LOGS": "0",
    "RAY_gcs_server_port_wait_time_s": "60",
    # A trial is a handful of processes: raylet need not warn that there are more of them than CPUs.
    "RAY_worker_maximum_startup_concurrency": "16",
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",
    "RAY_AIR_NEW_OUTPUT": "0",  # the new output prints its opening whatever `verbose` says
    # Ctrl-C comes to us as KeyboardInterrupt; Tune's own handler would swallow it.
    "TUNE_DISABLE_SIGINT_HANDLER": "1",
    "TUNE_WARN_EXCESSIVE_EXPERIMENT_CHECKPOINT_SYNC_THRESHOLD_S": "0",
    # How often Train's controller hears its workers: every verdict waits for it.
    "RAY_TRAIN_HEALTH_CHECK_INTERVAL_S": "0.5",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


@contextmanager
def ray_session(num_cpus: int = 0, address: str = "") -> Iterator[None]:
    """A running Ray: a fresh one on this machine, or the cluster at `address`.

    A fresh one has `num_cpus` CPUs; 0 = all.
    """
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    if address:
        _join(address)
    else:
        _start(num_cpus or usable_cpus())
    try:
        yield
    finally:
        ray.shutdown()


def _start(num_cpus: int) -> None:
    """A fresh Ray on this machine. Raises InputError where it cannot be started."""
    for attempt in range(1, START_ATTEMPTS + 1):
        try:
            # The dashboard stays on: without its state API, stopped trials leak their workers' placement groups.
            ray.init(
                num_cpus=num_cpus,
                resources={DRIVER: MAX_DRIVERS},
                include_dashboard=True,
                dashboard_host="127.0.0.1",
                object_store_memory=OBJECT_STORE_BYTES,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
            return
        except (RuntimeError, OSError, TimeoutError) as error:
            ray.shutdown()  # what of it was started
            if attempt == START_ATTEMPTS:
                what = f"Ray did not start in {attempt} attempts ({first_line(error)})"
                remedy = "Give the same command again when the machine is less busy"
                raise InputError(what, rule="a study needs a running Ray", remedy=remedy) from None


def _join(address: str) -> None:
    """Connect to a running cluster. Ray itself tries for minutes where nobody listens, and then ends the process."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        if host and port.isdigit():
            socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, ValueError, OverflowError, RuntimeError) as error:
        reason = first_line(error)
        rule, remedy = (
            "HOST:PORT of a running Ray head, or auto",
            "Leave --address out to use Ray on this machine",
        )
        raise InputError(
            f"no cluster at {address!r} ({reason})", where="--address", rule=rule, remedy=remedy
        ) from None


def usable_cpus() -> int:
    """CPUs this process may use, not those the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def trial_resources(resources: Resources) -> dict[str, float]:
    """What a trial actor reserves.

    All of its cell's resources where the cell runs in it, next to nothing where it only waits for Train's workers.
    """
    if resources.runs_on == "inline":
        return {"CPU": float(resources.threads), **({"GPU": float(resources.gpus)} if resources.gpus else {})}
    return {DRIVER: 1.0} if DRIVER in ray.cluster_resources() else {"CPU": 0.1}


def concurrency(resources: Resources, available: dict[str, float]) -> int:
    """How many trials fit at a time. Raises InputError where not even one does."""
    per_trial = {"CPU": resources.workers * resources.threads, "GPU": resources.workers * resources.gpus}
    fits = [int(available.get(kind, 0) // amount) for kind, amount in per_trial.items() if amount]
    if min(fits) < 1:
        needs = " and ".join(f"{amount} {kind}(s)" for kind, amount in per_trial.items() if amount)
        has = ", ".join(f"{available.get(kind, 0):g} {kind}(s)" for kind in per_trial)
        remedy = "Lower resources.workers, threads or gpus, or raise --cpus"
        raise InputError(
            f"one trial needs {needs}", where="resources", rule=f"there are {has}", remedy=remedy
        )
    return min(*fits, resources.max_concurrent) if resources.max_concurrent else min(fits)
