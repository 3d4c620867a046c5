"""Environment and `ray start` options of a node."""

import json
import shlex
from collections.abc import Mapping

from rse_study.cluster.machines import WorkerGroup
from rse_study.cluster.node_capacity import NODES_VARIABLE
from rse_study.cluster.spec import DRIVER_RESOURCE, NUM_DRIVERS, ClusterSpec

OBJECT_STORE_BYTES = 200_000_000  # holds scores and paths, never tensors
RAY_VARIABLES = {
    "PYTHONSAFEPATH": "1",  # installed packages come before a random.py of the working folder
    "RAY_AUTH_MODE": "token",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_TRAIN_V2_ENABLED": "1",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    # Waiting for a node counts as a trial's failure, and a new node takes minutes.
    "RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S": "600",
}
"""variables of all processes of a cluster; raylets pass them to their workers"""
DRIVER_RESOURCES = json.dumps({DRIVER_RESOURCE: NUM_DRIVERS})


def variables_of(spec: ClusterSpec) -> dict[str, str]:
    """Return the environment of a node's processes: ours, overridden by the spec's."""
    return RAY_VARIABLES | spec.environment.variables


def driver_variables(spec: ClusterSpec) -> dict[str, str]:
    """Return the nodes that may still join, which neither Ray nor a queue announces."""
    nodes = [
        {
            "name": name,
            "resources": {"CPU": group.cpus, **({"GPU": group.gpus} if group.gpus else {})},
            **({"labels": group.labels} if group.labels else {}),
            "max": group.max_nodes,
        }
        for name, group in spec.workers.items()
    ]
    return {NODES_VARIABLE: json.dumps(nodes)}


def exports(variables: Mapping[str, str]) -> list[str]:
    """Return shell lines that set variables."""
    return [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]


def head_options() -> list[str]:
    """Return `ray start` options of a head: no CPUs, but the driver's resource."""
    return [
        "--head",
        "--num-cpus=0",
        "--num-gpus=0",
        f"--resources={shlex.quote(DRIVER_RESOURCES)}",
        f"--object-store-memory={OBJECT_STORE_BYTES}",
        "--block",
    ]


def worker_options(group: WorkerGroup, cpus: int | str) -> list[str]:
    """Return `ray start` options of a worker that offers these CPUs to trials."""
    labels = ",".join(f"{key}={value}" for key, value in group.labels.items())
    return [
        f"--num-cpus={cpus}",
        f"--num-gpus={group.gpus}",
        f"--object-store-memory={OBJECT_STORE_BYTES}",
        *([f"--labels={shlex.quote(labels)}"] if labels else []),
        "--block",
    ]
