"""A command that waits until a cluster's workers have joined.

`python -m rse_study.on_ray.wait_for_nodes NUM SECONDS`; the head's address is in RAY_ADDRESS.
"""

import logging
import os
import socket
import sys
import time

import ray

PAUSE = 2.0  # seconds between two looks


def wait_for_nodes(address: str, num_wanted: int, seconds: float) -> int:
    """Return how many nodes that offer CPUs have joined.

    It returns once there are enough, or the time is up.

    Parameters
    ----------
    address
        HOST:PORT of the head.
    num_wanted
        Nodes that are enough.
    seconds
        The time.
    """
    until = time.monotonic() + seconds
    num_joined = 0
    while num_joined < num_wanted and time.monotonic() < until:
        if ray.is_initialized() or _is_joined(address):
            num_joined = sum(node["Alive"] and node["Resources"].get("CPU", 0) > 0 for node in ray.nodes())
        time.sleep(0.0 if num_joined >= num_wanted else PAUSE)
    ray.shutdown()
    return num_joined


def _is_joined(address: str) -> bool:
    """Connect, where somebody answers: Ray itself would try for minutes, and then end this process."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=PAUSE).close()
        ray.init(address, log_to_driver=False, logging_level=logging.CRITICAL)
    except (OSError, RuntimeError, ValueError):
        return False
    return True


def main() -> int:
    """Wait as the command line says; exit code 1 where nobody came."""
    num_wanted, seconds = int(sys.argv[1]), float(sys.argv[2])
    num_joined = wait_for_nodes(os.environ["RAY_ADDRESS"], num_wanted, seconds)
    print(f"{num_joined} of {num_wanted} workers have joined", flush=True)
    return 0 if num_joined else 1


if __name__ == "__main__":
    sys.exit(main())
