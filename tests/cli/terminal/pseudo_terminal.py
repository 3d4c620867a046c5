"""Python on pseudo-terminals of so many columns, and what it wrote there: one process, which imports once."""

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.cells import cell_len

ROWS = 40
CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07|\x1b[@-Z\\-_]")
COLOUR = re.compile(r"\x1b\[[0-9;]*\b(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])\b[0-9;]*m")
END = "\x1e"
PROGRAM = f"""
import fcntl, json, os, struct, sys, termios
inherited = dict(os.environ)
for code, columns, environment in json.loads(sys.argv[1]):
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", {ROWS}, columns, 0, 0))
    os.environ.clear()
    os.environ.update(inherited | environment)
    ended = 0
    try:
        exec(code, {{}})
    except SystemExit as end:
        ended = end.code or 0
    print(f"{END}{{ended}}{END}", flush=True)
"""


@dataclass(frozen=True)
class Scene:
    """Code that runs on a terminal of so many columns."""

    code: str
    columns: int
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class OnTerminal:
    code: int
    raw: str
    """with control sequences"""

    @property
    def lines(self):
        """What stood in the lines, whether it was drawn over later or not."""
        return [line.rstrip() for line in re.split(r"[\r\n]+", CONTROL.sub("", self.raw)) if line.strip()]

    def wider_than(self, columns):
        """Lines of more columns; a path or a command that stands alone may be one, so that it can be copied."""
        return [line for line in self.lines if cell_len(line) > columns and " " in line.strip()]

    @property
    def is_coloured(self):
        return bool(COLOUR.search(self.raw))


def on_terminal(scenes: Sequence[Scene], cwd: Path) -> list[OnTerminal]:
    """Play scenes one after the other; both streams go to the terminal."""
    ours, theirs = pty.openpty()
    inherited = {
        name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")
    }
    played = json.dumps([(scene.code, scene.columns, scene.environment) for scene in scenes])
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, played], stdin=theirs, stdout=theirs, stderr=theirs, cwd=cwd,
        env=inherited | {"TERM": "xterm-256color"}, close_fds=True,
    ) as process:  # fmt: skip
        os.close(theirs)
        parts = list[bytes]()
        try:
            while part := _read(ours):
                parts.append(part)
        finally:
            os.close(ours)
            process.kill()
    *said, rest = b"".join(parts).decode("utf-8").split(END)
    assert len(said) == 2 * len(scenes), rest
    return [OnTerminal(int(code), raw) for raw, code in zip(said[::2], said[1::2], strict=True)]


def _read(descriptor):
    try:
        return os.read(descriptor, 65536)
    except OSError:  # the process has closed it: it has ended
        return b""
