"""A command that waits until a cluster's head answers and workers have joined.

`python -m rse_study.on_ray.wait_for_nodes NUM SECONDS`; the head's address is in RAY_ADDRESS. It asks only
the head and is no driver: a driver needs a node of its own, which may still be starting.
"""

import os
import socket
import sys
import time

from ray.exceptions import RayError

from rse_study.on_ray.nodes.private_ray import CALL_SECONDS, ClusterHead

PAUSE = 1.0  # seconds between two looks


def wait_for_nodes(address: str, num_wanted: int, seconds: float) -> int | None:
    """Return how many nodes with CPUs have joined in time; None without a head."""
    until = time.monotonic() + seconds
    while True:
        num_joined = _num_joined(address)
        if (num_joined is not None and num_joined >= num_wanted) or time.monotonic() >= until:
            return num_joined
        time.sleep(PAUSE)


def _num_joined(address: str) -> int | None:
    """Count the nodes, None where nobody answers: Ray's client would keep trying."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=CALL_SECONDS).close()
        nodes = ClusterHead(address).alive_nodes().values()
    except (OSError, RayError):
        return None
    return sum(node.resources_total.get("CPU", 0) > 0 for node in nodes)


def main() -> int:
    """Wait as the command line says; exit code 1 if nobody came."""
    num_wanted, seconds = int(sys.argv[1]), float(sys.argv[2])
    num_joined = wait_for_nodes(os.environ["RAY_ADDRESS"], num_wanted, seconds)
    if num_joined is None:
        print("Ray's head does not answer", file=sys.stderr, flush=True)
    elif num_wanted:
        print(f"{num_joined} of {num_wanted} workers have joined", flush=True)
    return 1 if num_joined is None or (num_wanted and not num_joined) else 0


if __name__ == "__main__":
    sys.exit(main())
