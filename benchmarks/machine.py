"""A description of the machine, and whether it is quiet enough for timing."""

import argparse
import os
import platform
import subprocess
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

MOST_LOAD = 2.5
"""mean number of runnable processes in the last minute, above which no time is taken"""
SECONDS_BETWEEN = 2.0  # between two checks of the load
PACKAGES = ("torch", "transformers", "tokenizers", "sentence-transformers", "numpy", "ray")
CPU_LIST = Path("/proc/cpuinfo")


def describe_machine(seed: int) -> dict[str, Any]:
    """Return cores, processor, versions, threads, the commit and the present load."""
    return {
        "cores": num_cores(),
        "cpu": cpu_model(),
        "python": platform.python_version(),
        "packages": {name: version_of(name) for name in PACKAGES},
        "commit": commit(),
        "threads": torch.get_num_threads(),
        "seed": seed,
        "load_before": load(),
    }


def load() -> float:
    """Return the mean number of runnable processes in the last minute."""
    return round(os.getloadavg()[0], 2)


def is_quiet() -> bool:
    """Whether a time taken now is meaningful."""
    return load() < MOST_LOAD


def may_time(options: argparse.Namespace) -> bool:
    """Whether times may be taken: if `--busy`, or if quiet within `--wait` seconds."""
    deadline = time.monotonic() + options.wait
    while not (options.busy or is_quiet()):
        if time.monotonic() >= deadline:
            return False
        time.sleep(SECONDS_BETWEEN)
    return True


def num_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def cpu_model() -> str:
    """Return the processor's name in the kernel."""
    lines = CPU_LIST.read_text(encoding="utf-8").splitlines() if CPU_LIST.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def version_of(package: str) -> str:
    """Return the installed version, or `not installed`."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def commit() -> str:
    """Return the checkout's commit, with `+` if files differ from it."""
    root = Path(__file__).parents[1]
    command = ["git", "-C", str(root), "describe", "--always", "--abbrev=9", "--dirty=+"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
