"""Ray on this machine, quiet and on the loopback alone, or a cluster."""

import logging
import os
import re
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, redirect_stdout
from pathlib import Path

import ray
from ray.exceptions import AuthenticationError, RayError

from rse_study.cluster.spec import DRIVER_RESOURCE, NUM_DRIVERS
from rse_study.errors import InputError, Unavailable, first_line
from rse_study.on_ray.nodes.cluster_watch import STUCK_SECONDS, ClusterWatch, StartingRay
from rse_study.on_ray.nodes.private_ray import (
    CALL_SECONDS,
    ClusterHead,
    address_of_head,
    count_no_loggers,
    keep_keys_from_logs,
    make_token,
    on_loopback,
    path_of_driver,
    use_existing_token,
)
from rse_study.on_ray.nodes.ray_folder import ray_folder

OBJECT_STORE_BYTES = 100_000_000  # metrics and paths travel through it, never tensors
# Ray ends a process whose head is silent for so many seconds, in its own words: ours is to notice it before.
RECONNECT_VARIABLE, RECONNECT_SECONDS = "RAY_gcs_rpc_server_reconnect_timeout_s", "600"
# On a busy machine Ray's first process may end, or take too long, before others hear of it.
START_ATTEMPTS, LATE = 3, (RuntimeError, RayError, TimeoutError, ConnectionError)
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
    # Tune asks for the cluster's resources now and then, only to show them: without a head it would wait for ever.
    "TUNE_STATE_REFRESH_PERIOD": "1000000000",
    # Trials start side by side: our searcher says how many there are.
    "TUNE_MAX_PENDING_TRIALS_PG": "1000",
    # Its own state holds every trial, and nobody reads it: the ledger is what a study is taken up from.
    "TUNE_GLOBAL_CHECKPOINT_S": "1000000000",
    "TUNE_WARN_EXCESSIVE_EXPERIMENT_CHECKPOINT_SYNC_THRESHOLD_S": "0",
    # How often Train's controller looks at its workers: so long a lost one goes unnoticed.
    "RAY_TRAIN_HEALTH_CHECK_INTERVAL_S": "0.5",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
# Variables of KubeRay's pods and of Ray's jobs, by which a Ray of one's own would ask or imitate that cluster.
OF_A_CLUSTER = re.compile("RAY_(.*ADDRESS|GCS_SERVER_PORT|JOB_CONFIG_JSON_ENV_VAR|OVERRIDE_.*)")


@contextmanager
def ray_session(
    num_cpus: int = 0, address: str = "", exit_stuck: Callable[[str], None] = print
) -> Iterator[None]:
    """Run a fresh Ray with `num_cpus` CPUs (0 = all), or join the one at `address`.

    `exit_stuck` ends a process that waits in vain for a Ray of its own that has ended while it started.
    """
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    keep_keys_from_logs()
    count_no_loggers()
    with ExitStack() as stack:
        if address:
            _join(address)
        else:
            _start(num_cpus or usable_cpus(), exit_stuck, stack.enter_context(ray_folder()))
        try:
            yield
        finally:
            with redirect_stdout(sys.stderr):  # it prints once more what raylets reported
                ray.shutdown()


def _start(num_cpus: int, exit_stuck: Callable[[str], None], folder: Path) -> None:
    for name in filter(OF_A_CLUSTER.fullmatch, list(os.environ)):
        del os.environ[name]
    make_token()
    for attempt in range(1, START_ATTEMPTS + 1):
        try:
            # The dashboard stays on: without its state API, stopped trials leak their workers' placement groups.
            with on_loopback(), closing(ClusterWatch(StartingRay(), exit_stuck, STUCK_SECONDS["own"])):
                ray.init(
                    address="local",
                    _temp_dir=str(folder),
                    job_config=path_of_driver(),
                    num_cpus=num_cpus,
                    resources={DRIVER_RESOURCE: NUM_DRIVERS},
                    include_dashboard=True,
                    dashboard_host="127.0.0.1",
                    object_store_memory=OBJECT_STORE_BYTES,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                )
            return
        except Exception as error:
            ray.shutdown()  # what of it was started
            # Where the node's process is not up after 30 s Ray raises Exception itself, not one of its kinds.
            is_late = type(error) is Exception or isinstance(error, LATE)
            if not is_late or attempt == START_ATTEMPTS:
                said = " ".join(str(error).split()) or type(error).__name__
                what = f"Ray did not start in {attempt} attempt{'s' * (attempt > 1)} ({said})"
                when = "when the machine is less busy" if is_late else "when that is mended"
                raise Unavailable(what, f"Give the same command again {when}") from None


def _join(address: str) -> None:
    """Connect to a running cluster, where Ray itself tries for minutes and then exits."""
    os.environ.setdefault(RECONNECT_VARIABLE, RECONNECT_SECONDS)
    try:
        located = _located(address)
        ray.init(
            address=located, job_config=path_of_driver(), log_to_driver=False, logging_level=logging.ERROR
        )
    except AuthenticationError:
        rule = "the cluster asks for a token, and this process has none or another"
        remedy = "Set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN_PATH to the file that holds the cluster's token"
        raise InputError(f"{address!r} was refused", where="--address", rule=rule, remedy=remedy) from None
    except (OSError, ValueError, OverflowError, RuntimeError, RayError) as error:
        what = f"no cluster at {address!r} ({first_line(error)})"
        rule = "HOST:PORT of a running Ray head, or auto"
        remedy = "Leave --address out to use Ray on this machine"
        raise InputError(what, where="--address", rule=rule, remedy=remedy) from None


def _located(address: str) -> str:
    """Return the cluster's HOST:PORT, after a short call that tests it and the token."""
    if address.startswith("ray://"):
        raise ValueError("Ray Client is not supported: run the study on a node of the cluster")
    host, _, port = address.rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host, int(port)), timeout=CALL_SECONDS).close()
    use_existing_token()
    located = address_of_head(address)
    ClusterHead(located).alive_nodes()
    return located


def usable_cpus() -> int:
    """Return the number of CPUs this process may use, not those of the machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
