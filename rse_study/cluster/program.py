"""Programs that start, show and end jobs: `sbatch`, `kubectl`, `ray`."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rse_study.errors import InputError

CommandWords = tuple[str, ...]
ERROR = re.compile(r"[\w.]*(Error|Exception): ")
NEAR = "Is the cluster within reach?"
SECONDS = 120.0
"""time limit of a query to a cluster"""


def our_environment() -> dict[str, str]:
    """Return our environment, with the programs next to `rse-study` first on PATH."""
    folders = [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    return {**os.environ, "PATH": os.pathsep.join(folders)}


@dataclass(frozen=True)
class ProgramResult:
    """Exit code and output of a program."""

    code: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """The error message in one line; if there is a traceback, its last line."""
        lines = [line.strip() for line in (self.err or self.out).splitlines() if any(map(str.isalnum, line))]
        errors = [line for line in lines if ERROR.match(line)]
        return (errors or lines or [f"exit code {self.code}"])[-1]


def call(
    command: Sequence[str],
    *,
    remedy: str,
    folder: Path | None = None,
    env: Mapping[str, str] | None = None,
    seconds: float = SECONDS,
) -> ProgramResult:
    """Run a program and return its result; InputError if it is missing or too slow."""
    done = _run(command, remedy, folder, env, capture_output=True, text=True, timeout=seconds)
    return ProgramResult(done.returncode, done.stdout, done.stderr)


def answer_of(
    command: Sequence[str], *, rule: str, remedy: str = NEAR, env: Mapping[str, str] | None = None
) -> str:
    """Run a program and return its output; InputError with `rule` if it fails."""
    result = call(command, remedy=remedy, env=env)
    if result.code:
        what = result.complaint.removeprefix(f"{command[0]}: ")
        raise InputError(f"{command[0]}: {what}", rule=rule, remedy=remedy)
    return result.out


def follow(
    command: Sequence[str], *, remedy: str, folder: Path | None = None, env: Mapping[str, str] | None = None
) -> int:
    """Run a program with its output on the screen, and return its exit code."""
    sys.stdout.flush()
    return int(_run(command, remedy, folder, env).returncode)


def _run(
    command: Sequence[str], remedy: str, folder: Path | None, env: Mapping[str, str] | None, **options: Any
) -> subprocess.CompletedProcess[Any]:
    env = our_environment() if env is None else env
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, check=False, cwd=folder, env=env, **options)
    except FileNotFoundError:
        rule = "this kind of cluster is driven by it"
        raise InputError(f"no program {command[0]!r}", rule=rule, remedy=remedy) from None
    except subprocess.TimeoutExpired as error:
        rule = f"no answer within {error.timeout:.0f} s"
        raise InputError(shown(command), rule=rule, remedy=NEAR) from None


def shown(command: Sequence[str]) -> str:
    """Return a command as one would type it."""
    return shlex.join(command)
