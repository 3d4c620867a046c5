"""All that Ray has no public way for, each with the reason.

No other file imports its private modules.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ray.job_config import JobConfig

CALL_SECONDS = 5.0  # for one question to the head
KEYS = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SECURITY_TOKEN", "AWS_SESSION_TOKEN"}
ALIVE = 0  # Ray's GcsNodeInfo.GcsNodeState


class ClusterHead:
    """A cluster's head, which is asked by a process that need not be a driver.

    `ray.nodes` needs a driver, and never returns where the head is gone; `ray.util.state` asks the dashboard, which
    may be gone where the cluster is not.
    """

    def __init__(self, address: str) -> None:
        from ray._raylet import GcsClient  # type: ignore[attr-defined]

        self._client = GcsClient(address=address)

    def alive_nodes(self) -> dict[str, Any]:
        """Return the head's entry of every live node, by id; RayError if it is silent."""
        listed = self._client.get_all_node_info(timeout=CALL_SECONDS)
        return {identity.hex(): one for identity, one in listed.items() if one.state == ALIVE}


def use_existing_token() -> None:
    """Send this user's token to the cluster, if there is one.

    `ray.init` does so itself; the head is asked before that, and refuses whoever has none.
    """
    from ray._private.authentication import authentication_token_setup as setup

    setup.maybe_enable_token_auth_if_token_available(warn_if_disabled=False)
    setup.ensure_token_if_auth_enabled(create_token_if_missing=False)


def make_token() -> None:
    """Make this user's token for nobody else to read.

    RAY_AUTH_MODE may say that there is none. `ray.init` makes it too, with the mode that the umask leaves.
    """
    from ray._private.authentication import authentication_token_setup as setup

    before = os.umask(0o077)
    try:
        setup.enable_token_auth_by_default()
        setup.ensure_token_if_auth_enabled(create_token_if_missing=True)
    finally:
        os.umask(before)
    path = Path.home() / ".ray" / "auth_token"
    if path.exists() and path.stat().st_mode & 0o077:  # of an earlier Ray
        path.chmod(0o600)


@contextmanager
def on_loopback() -> Iterator[None]:
    """Let a Ray that starts meanwhile listen on the loopback alone, all its processes.

    Ray does so on macOS; on Linux `ray.init` replaces a node address of 127.0.0.1 by the machine's own.
    """
    from ray._private import ray_constants

    before, ray_constants.ENABLE_RAY_CLUSTER = ray_constants.ENABLE_RAY_CLUSTER, False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = before


def ray_start_on_loopback() -> None:
    """Run `ray start` with this process's options on the loopback, also for a worker.

    The head, the jobs and their drivers keep it by the variable RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0, by which `ray
    start` refuses workers.
    """
    from ray._private import ray_constants, services
    from ray.scripts.scripts import start

    ray_constants.ENABLE_RAY_CLUSTER = True
    services.resolve_ip_for_localhost = lambda host: host
    start(prog_name="ray start")


def path_of_driver() -> JobConfig:
    """Let workers look for modules in the driver's order, the working folder last.

    Ray would put that folder first, where a `random.py` replaces Python's, unless the job has a folder of its own.
    """
    # Each worker puts one after the other before the rest of its path.
    places = dict.fromkeys([*map(os.path.abspath, sys.path), os.getcwd()])
    job = JobConfig(_py_driver_sys_path=[*reversed(places)])
    job._runtime_env_has_working_dir = lambda: True  # type: ignore[method-assign]
    return job


def count_no_loggers() -> None:
    """Keep Tune from counting its loggers for Ray's statistics, which are off.

    It would import every tracker that is installed: 4 s before the first cell.
    """
    from ray.air._internal import usage

    usage.tag_callbacks = lambda callbacks: False


def keep_keys_from_logs() -> None:
    """Take the storage's keys out of the variables that Tune hands to every trial.

    It puts them into the runtime environment, which each node writes into a log. Nodes have keys of their own; on this
    machine trials inherit the driver's.
    """
    from ray.tune.execution import class_cache

    class_cache.ENV_VARS_TO_PROPAGATE -= KEYS


def address_of_head(address: str) -> str:
    """Return HOST:PORT of an address such as `auto`.

    Publicly only `ray.init` resolves it, which needs a node.
    """
    from ray._private.services import canonicalize_bootstrap_address_or_die

    return str(canonicalize_bootstrap_address_or_die(address))


def dashboard_url() -> str:
    """Return the dashboard's HOST:PORT, which publicly `ray.init` alone returns."""
    from ray._private.worker import get_dashboard_url

    return get_dashboard_url() or ""


def autoscaler_requests(name: str) -> Any:
    """Return requests to the autoscaler that expire, beside those of Ray Train.

    A request of `ray.autoscaler.sdk` stands for ever, and replaces that of everybody else.
    """
    from ray.data._internal.cluster_autoscaler import default_autoscaling_coordinator as requests

    return requests.DefaultAutoscalingCoordinator(name)


def check_by_launcher(content: dict[str, Any]) -> None:
    """Raise what `ray up` would say of its file; its public ways start a cluster."""
    from ray.autoscaler._private.util import prepare_config, validate_config

    validate_config(prepare_config(content))
