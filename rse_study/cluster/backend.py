"""Interface of cluster backends, and runs of `sbatch`, `kubectl` and `ray`."""

import os
import re
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import join
from typing import Any, ClassVar

from rse_study.cluster.job import Job, JobReport
from rse_study.cluster.spec import ClusterSpec
from rse_study.errors import InputError

CommandWords = tuple[str, ...]
NEAR = "Is the cluster within reach?"
SECONDS = 120.0
"""time limit of a query to a cluster"""


@dataclass(frozen=True)
class Backend(ABC):
    """A cluster controlled by its own programs; InputError if it does not respond."""

    home: Path
    """local folder of the cluster's records, and of its jobs' folders, which Slurm has elsewhere"""
    spec: ClusterSpec
    reuses_ids: ClassVar[bool] = False
    """whether a submission id may be used again after its job has ended"""

    def folder_of(self, submission_id: str) -> Path:
        return self.home / submission_id

    @abstractmethod
    def jobs(self) -> list[JobReport]:
        """Return all jobs on the cluster, ours and others; none if it was never started."""

    @abstractmethod
    def submission(self, job: Job) -> list[CommandWords]:
        """Return the commands that submit a job, in order, without running them."""

    @abstractmethod
    def submit(self, job: Job) -> str:
        """Submit a job whose files are in its folder, and return its handle."""

    @abstractmethod
    def show_log(self, report: JobReport, is_followed: bool) -> None:
        """Print a job's output; with `is_followed`, until the job ends."""

    @abstractmethod
    def dashboard(self, report: JobReport) -> str:
        """Return how to open Ray's dashboard; empty if it is not up."""

    @abstractmethod
    def ending(self, reports: list[JobReport], is_last: bool) -> list[CommandWords]:
        """Return the commands by which `end` ends jobs, without running them."""

    def end(self, reports: list[JobReport], is_last: bool) -> None:
        """End these jobs; with `is_last` also a cluster that outlives its jobs."""
        for command in self.ending(reports, is_last):
            answer_of(command, rule="the cluster does not answer, or refused it")


def our_environment() -> dict[str, str]:
    """Return our environment, with the programs next to `rse-study` first on PATH."""
    folders = [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    return {**os.environ, "PATH": os.pathsep.join(folders)}


def call(
    command: Sequence[str], *, remedy: str, is_shown: bool = False, **how: Any
) -> "subprocess.CompletedProcess[str]":
    """Run a program; with `is_shown` on the screen, and for as long as it takes.

    Raises InputError if it is missing or too slow.
    """
    how = {"env": our_environment()} | how
    if not is_shown:
        how |= {"capture_output": True, "timeout": SECONDS}
    sys.stdout.flush()
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, check=False, text=True, **how)
    except FileNotFoundError:
        rule = "this kind of cluster is driven by it"
        raise InputError(f"no program {command[0]!r}", rule=rule, remedy=remedy) from None
    except subprocess.TimeoutExpired as error:
        rule = f"no answer within {error.timeout:.0f} s"
        raise InputError(join(command), rule=rule, remedy=NEAR) from None


def complaint(result: "subprocess.CompletedProcess[str]") -> str:
    """Return a program's error in one line; if there is a traceback, its last line."""
    lines = [line.strip() for line in (result.stderr or result.stdout).splitlines()]
    lines = [line for line in lines if any(map(str.isalnum, line))]
    errors = [line for line in lines if re.match(r"[\w.]*(Error|Exception): ", line)]
    return (errors or lines or [f"exit code {result.returncode}"])[-1]


def answer_of(command: Sequence[str], *, rule: str, remedy: str = NEAR, **how: Any) -> str:
    """Run a program and return its output; InputError with `rule` if it fails."""
    result = call(command, remedy=remedy, **how)
    if result.returncode:
        what = complaint(result).removeprefix(f"{command[0]}: ")
        raise InputError(f"{command[0]}: {what}", rule=rule, remedy=remedy)
    return result.stdout
