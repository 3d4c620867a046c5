"""Programs that start, show and end jobs: `sbatch`, `kubectl`, `ray`."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rse_study.errors import InputError

ERROR = re.compile(r"[\w.]*(Error|Exception): ")
SECONDS = 120.0
"""how long a question to a cluster may take"""


def our_environment() -> dict[str, str]:
    """Return our environment variables, with our own programs first on PATH.

    `ray` and `python` are installed beside `rse-study`, which may be called by its path, without that folder on PATH.
    """
    return {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
    }


@dataclass(frozen=True)
class ProgramResult:
    """What a program answered."""

    code: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """What it printed to say what is wrong, in one line: below a traceback the error."""
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
    """Run a program to its end and return what it answered, whatever that is.

    Raises InputError where there is no such program, or where it does not end.

    Parameters
    ----------
    command
        Its words; the first is the program.
    remedy
        What to do where the program is missing.
    folder
        Where it runs; default: the current folder.
    env
        All of its environment variables; default: ours.
    seconds
        How long it may take.
    """
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=seconds,
            stdin=subprocess.DEVNULL,
            check=False,
            cwd=folder,
            env=our_environment() if env is None else dict(env),
        )
    except FileNotFoundError:
        raise _missing(command, remedy) from None
    except subprocess.TimeoutExpired:
        rule = f"no answer within {seconds:.0f} s"
        raise InputError(shown(command), rule=rule, remedy="Is the cluster within reach?") from None
    return ProgramResult(done.returncode, done.stdout, done.stderr)


def follow(
    command: Sequence[str], *, remedy: str, folder: Path | None = None, env: Mapping[str, str] | None = None
) -> int:
    """Run a program whose output the user sees at once, and return its exit code.

    Parameters
    ----------
    command
        Its words; the first is the program.
    remedy
        What to do where the program is missing.
    folder
        Where it runs; default: the current folder.
    env
        All of its environment variables; default: ours.
    """
    sys.stdout.flush()
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            check=False,
            cwd=folder,
            env=our_environment() if env is None else dict(env),
        ).returncode
    except FileNotFoundError:
        raise _missing(command, remedy) from None


def shown(command: Sequence[str]) -> str:
    """Return a command as one would type it."""
    import shlex

    return shlex.join(command)


def _missing(command: Sequence[str], remedy: str) -> InputError:
    return InputError(
        f"no program {command[0]!r}", rule="this kind of cluster is driven by it", remedy=remedy
    )
