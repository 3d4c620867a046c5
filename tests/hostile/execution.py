"""Commands in a forked process that is watched: exit code, errors, time and memory of each."""

import contextlib
import io
import multiprocessing
import os
import re
import resource
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

MOST_SECONDS, MOST_BYTES = 10.0, 10**9
KILLED_SECONDS, KILLED_BYTES, RENEWED_BYTES = 20.0, 4 * 10**9, 0.9 * 10**9
MOST_WAITED_SECONDS = (
    300.0  # of a clock: a command that waits for something spends none of the processor's time
)
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
OUTCOMES = ("accepted", "refused", "no remedy", "internal error", "slow", "large", "unclean")
GOOD = OUTCOMES[:2]


@dataclass
class Ended:
    """The end of one or more commands on one mutant."""

    code: int = 0
    said: list[str] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)
    """the errors that lack a place or a remedy"""
    unclean: str = ""
    """the rule that was broken, such as a control character on the screen"""
    seconds: float = 0.0
    """of the processor's time, which other processes do not change; of a clock if the process was killed"""
    bytes: int = 0
    """largest resident memory"""

    @property
    def outcome(self) -> str:
        if self.seconds > MOST_SECONDS:
            return "slow"
        if self.bytes > MOST_BYTES:
            return "large"
        if self.code not in (0, 1, 2, 3, 4):
            return "internal error"
        if self.unclean:
            return "unclean"
        return "no remedy" if self.lacking else "refused" if self.said else "accepted"


Mutant = tuple[list[list[str]], Callable[[], str]]
"""Commands, and a check of what they left behind, which returns the broken rule"""
Maker = Callable[[int, Path], Mutant]


class Watched:
    """A worker process that makes and tries one mutant after another; replaced when it dies or grows."""

    def __init__(self, maker: Maker, folder: Path) -> None:
        self._maker, self._folder = maker, folder
        self._process: Any = None

    def attempt(self, number: int) -> Ended:
        """Make the mutant of this number and run its commands."""
        if self._process is None:
            self._start()
        self._ours.send(number)
        began, spent, largest = time.monotonic(), self._spent(), 0
        while not self._ours.poll(0.05):
            seconds, largest = self._spent() - spent, max(largest, self._resident())
            waited = time.monotonic() - began
            if seconds > KILLED_SECONDS or waited > MOST_WAITED_SECONDS or largest > KILLED_BYTES:
                seconds = waited if waited > MOST_WAITED_SECONDS else seconds
                self.close()
                return Ended(0, ["killed"], seconds=seconds, bytes=largest)
        try:
            ended: Ended = self._ours.recv()
        except EOFError:
            self._process.join()
            assert self._process.exitcode != 1, "no mutant could be made"
            self.close()
            return Ended(70, ["the process died"], seconds=time.monotonic() - began, bytes=largest)
        if self._resident() > RENEWED_BYTES:
            self.close()
        return ended

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._ours.close()
            self._process = None

    def _start(self) -> None:
        self._ours, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.get_context("fork").Process(
            target=_work, args=(theirs, self._ours, self._maker, self._folder), daemon=True
        )
        self._process.start()
        theirs.close()

    def _spent(self) -> float:
        """Return the seconds of the processor's time that the process has taken."""
        try:
            words = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
            return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, IndexError):
            return 0.0

    def _resident(self) -> int:
        try:
            return int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]) * PAGE_BYTES
        except (OSError, IndexError):
            return 0


def _work(connection: Connection, other: Connection, maker: Maker, folder: Path) -> None:
    other.close()
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 * 10**9, 2 * 10**9))
    while True:
        try:
            number = connection.recv()
        except EOFError:
            return
        connection.send(tried(*maker(number, folder)))


def tried(commands: list[list[str]], check: Callable[[], str]) -> Ended:
    """Run the commands of a mutant in this process, one after the other."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # forget the largest memory so far
    ended = Ended()
    began = time.process_time()
    for command in commands:
        run(command, ended)
    ended.seconds = time.process_time() - began
    status = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    ended.bytes = int(status[1]) * 1024 if status else 0
    ended.unclean = ended.unclean or check()
    return ended


def run(arguments: list[str], ended: Ended) -> None:
    """Run one command, and add its end."""
    from rse_study.cli.app import app
    from rse_study.cli.terminal import errors

    raised: list[Exception] = []
    original = errors._run

    def noting(call: Callable[[], int | None]) -> int:
        def noted() -> int | None:
            try:
                return call()
            except Exception as error:
                raised.append(error)
                raise

        return original(noted)

    out, err = io.StringIO(), io.StringIO()
    errors._run = noting
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            app(arguments, prog_name="rse-study")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 70
    except BaseException as error:
        code = 70
        raised.append(error)  # type: ignore[arg-type]
    finally:
        errors._run = original
    _judge(arguments, code, raised, out.getvalue() + err.getvalue(), ended)


def _own_frames(error: Exception) -> list[traceback.FrameSummary]:
    frames = traceback.extract_tb(error.__traceback__)
    return [
        frame for frame in frames if "site-packages" not in frame.filename and "tests/" not in frame.filename
    ]


def _judge(arguments: list[str], code: int, raised: list[Exception], shown: str, ended: Ended) -> None:
    from rse_study.errors import InputError, Unavailable

    ended.code = max(ended.code, code)
    control = CONTROL.search(shown.replace("\r\n", "\n"))
    if control:
        ended.unclean = f"{arguments[0]} prints {control.group()!r}"
    for error in raised:
        problems = getattr(error, "problems", [error])
        at = "".join(f" <- {frame.name} {frame.filename}:{frame.lineno}" for frame in _own_frames(error)[-3:])
        ended.said += [f"{problem}{at}" if code == 70 else str(problem) for problem in problems]
        for problem in problems:
            if isinstance(problem, InputError | Unavailable) and not problem.remedy:
                ended.lacking.append(f"no remedy: {problem}")
            if isinstance(problem, InputError) and not problem.where:
                ended.lacking.append(f"no place: {problem}")
    if code == 70 and not raised:
        ended.said.append(shown[-500:])
