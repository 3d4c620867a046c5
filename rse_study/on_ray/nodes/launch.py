"""Ray on this machine, quiet and on the loopback alone, or a cluster; its folder."""

import errno
import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

import ray
from ray.exceptions import AuthenticationError, RayError

from rse_study.cluster.spec import DRIVER_RESOURCE, NUM_DRIVERS
from rse_study.errors import GOES_ON, InputError, Unavailable, first_line
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

SOCKET = "/rse-xxxxxxxx/r/session_2026-01-01_00-00-00_000000_4194304/sockets/plasma_store"
LONGEST = 107 - len(SOCKET)  # bytes of the folder's parent: 107 is the kernel's limit for a socket's path
SHORT = Path("/tmp")
ROOM_BYTES = 16 * 2**20  # free at the start: a short run leaves 2.3 MB there, mostly logs
# For some seconds after the driver's death, what is left of its Ray may make the folder again.
REMOVE = '[ -e "$0" ] || exit; for _ in 1 2 3 4 5 6; do rm -rf "$0"; sleep 3; done'
WATCH = f"cd /; exec 3<&0 > /dev/null 2>&1; (read _ <&3; {REMOVE}) &"  # `read` ends with the driver's pipe


@contextmanager
def ray_folder() -> Iterator[Path]:
    """Make a folder for one Ray, which is removed when its driver has left or is dead.

    It lies in RAY_TMPDIR, in TMPDIR or in /tmp. Where that has too long a path for sockets, or no ASCII one, Ray gets a
    link to it in /tmp.
    """
    temporary = os.environ.get("TMPDIR") or str(SHORT)
    place = parent = Path(os.environ.get("RAY_TMPDIR") or temporary).absolute()
    with ExitStack() as stack:
        try:
            parent.mkdir(parents=True, exist_ok=True)
            if shutil.disk_usage(parent).free < ROOM_BYTES:
                raise OSError(errno.ENOSPC, f"less than {ROOM_BYTES >> 20} MiB are free")
            folder = _new_folder(parent, stack)
            (folder / "r").mkdir()  # one below it: Ray gives its own folder the mode 0777
            if not _is_fit(parent):
                place, kept = SHORT, folder
                folder = _new_folder(SHORT, stack)
                (folder / "r").symlink_to(kept / "r")
            if not _is_fit(Path(temporary).absolute()):  # Python has sockets there, too
                (folder / "t").symlink_to(Path(temporary).absolute())
                stack.callback(os.environ.__setitem__, "TMPDIR", temporary)
                stack.callback(setattr, tempfile, "tempdir", tempfile.tempdir)
                os.environ["TMPDIR"] = tempfile.tempdir = str(folder / "t")
        except OSError as error:
            cause = "it is no folder" if isinstance(error, FileExistsError) else error.strerror
            what, remedy = f"Ray cannot keep its files in {place}: {cause}", "Mend that, or name"
            raise Unavailable(what, f"{remedy} another folder with RAY_TMPDIR; {GOES_ON}") from None
        yield folder / "r"


def _is_fit(place: Path) -> bool:
    return str(place).isascii() and len(str(place)) <= LONGEST


def _new_folder(parent: Path, stack: ExitStack) -> Path:
    """Make a folder of mode 0700, which a process without a parent removes if the driver dies."""
    folder = Path(tempfile.mkdtemp(prefix="rse-", dir=parent))
    end, held = os.pipe()
    stack.callback(os.close, held)
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    subprocess.run(["sh", "-c", WATCH, str(folder)], stdin=end, start_new_session=True, check=True)
    os.close(end)
    return folder


STDERR = 2  # the descriptor: C++ does not know Python's sys.stderr
THREADS_OF_RAY = "ray_"  # how the names of its threads begin; they print what raylets report, on stdout


class _PartedStdout:
    """A stdout that sends the output of Ray's threads elsewhere."""

    def __init__(self, ours: Any, theirs: TextIO) -> None:  # ours: whatever somebody took for sys.stdout
        self._ours, self._theirs = ours, theirs

    def write(self, text: str) -> int:
        of_ray = threading.current_thread().name.startswith(THREADS_OF_RAY)
        return (self._theirs if of_ray else self._ours).write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ours, name)


@contextmanager
def ray_output_in_file(folder: Path) -> Iterator[Path]:
    """Redirect stderr and Ray's threads to a new file, removed if nothing was printed."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"ray-{datetime.now(UTC):%Y%m%dT%H%M%S%f}.txt"
    sys.stderr.flush()
    with path.open("a", buffering=1, encoding="utf-8") as log, _led_to(log):
        stdout, parted = sys.stdout, _PartedStdout(sys.stdout, log)
        sys.stdout = parted
        try:
            yield path
        finally:
            if sys.stdout is parted:
                sys.stdout = stdout
            sys.stderr.flush()
    if path.exists() and path.stat().st_size == 0:  # its folder may be gone by now
        path.unlink()


@contextmanager
def _led_to(log: TextIO) -> Iterator[None]:
    """Point the descriptor of stderr at the file."""
    before = os.dup(STDERR)
    os.dup2(log.fileno(), STDERR)
    try:
        yield
    finally:
        os.dup2(before, STDERR)
        os.close(before)


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
