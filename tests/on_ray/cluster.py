"""A Ray cluster on this machine as long as standard input is open: python -m tests.on_ray.cluster CPUS

Prints its address. Studies of several modules join it: starting one takes longer than running most of them.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

import ray

from rse_study.on_ray.nodes import launch

ROOT = Path(__file__).parents[2]
SAYS = "address "


@contextmanager
def running_cluster(num_cpus: int = 1) -> Iterator[str]:
    """The address of a cluster in a process of its own, which ends with the context, and with this process too."""
    command = [sys.executable, "-m", "tests.on_ray.cluster", str(num_cpus)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with ExitStack() as stack:
        cache = stack.enter_context(TemporaryDirectory())
        environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), "RSE_STUDY_CACHE": cache}
        started = subprocess.Popen(command, cwd=ROOT, env=environment, text=True, **pipes)
        process = stack.enter_context(started)
        assert process.stdin is not None and process.stdout is not None
        said = next((line for line in process.stdout if line.startswith(SAYS)), "")
        assert said, "the cluster did not start"
        try:
            yield said.removeprefix(SAYS).strip()
        finally:
            process.stdin.close()


def main(num_cpus: str) -> None:
    launch.on_loopback = nullcontext  # whoever joins it does so by the machine's address
    with launch.ray_session(int(num_cpus)):
        print(f"{SAYS}{ray.get_runtime_context().gcs_address}", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
