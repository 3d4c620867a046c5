"""A description of the machine, and whether it is quiet enough for timing."""

import argparse
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import torch

from rse_study.training.arithmetic import provenance

MOST_LOAD = 2.5
"""mean number of runnable processes in the last minute, above which no time is taken"""
SECONDS_BETWEEN = 2.0  # between two checks of the load


def describe_machine(seed: int) -> dict[str, Any]:
    """Return cores, processor, versions, threads, the commit and the present load."""
    own = {"cores": num_cores(), "commit": commit(), "seed": seed, "load_before": load()}
    return provenance(torch.device("cpu")) | own


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


def commit() -> str:
    """Return the checkout's commit, with `+` if files differ from it."""
    root = Path(__file__).parents[1]
    command = ["git", "-C", str(root), "describe", "--always", "--abbrev=9", "--dirty=+"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
