"""The machine of a figure, and whether it is quiet enough for a time."""

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
"""Runnable processes, mean of the last minute: above it no time is taken"""
SECONDS_BETWEEN = 2.0  # two looks at the load
PACKAGES = ("torch", "transformers", "tokenizers", "sentence-transformers", "numpy", "ray")
CPU_LIST = Path("/proc/cpuinfo")


def describe_machine(seed: int) -> dict[str, Any]:
    """Cores, processor, versions, threads, the checkout's commit and the load of now."""
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
    """Runnable processes, mean of the last minute."""
    return round(os.getloadavg()[0], 2)


def is_quiet() -> bool:
    """Whether a time that is taken now says something."""
    return load() < MOST_LOAD


def may_time(options: argparse.Namespace) -> bool:
    """Whether a time may be taken: the machine is quiet or becomes so in time.

    Or need not be.
    """
    deadline = time.monotonic() + options.wait
    while not (options.busy or is_quiet()):
        if time.monotonic() >= deadline:
            return False
        time.sleep(SECONDS_BETWEEN)
    return True


def num_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


def cpu_model() -> str:
    """The processor's name, as the kernel says it."""
    lines = CPU_LIST.read_text(encoding="utf-8").splitlines() if CPU_LIST.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def version_of(package: str) -> str:
    """The installed version, or `not installed`."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def commit() -> str:
    """Of the checkout that is measured, with `+` where files differ from it."""
    root = Path(__file__).parents[1]
    command = ["git", "-C", str(root), "describe", "--always", "--abbrev=9", "--dirty=+"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
