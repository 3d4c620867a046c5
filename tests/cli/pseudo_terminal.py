"""A command on a pseudo-terminal of so many columns, and what it wrote there."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from dataclasses import dataclass

from rich.cells import cell_len

ROWS = 40
CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07|\x1b[@-Z\\-_]")
COLOUR = re.compile(r"\x1b\[[0-9;]*\b(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])\b[0-9;]*m")


@dataclass
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


def on_terminal(command, columns, *, cwd, rows=ROWS, **env):
    """Run it to its end; both streams go to the terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    inherited = {
        name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")
    }
    environment = inherited | {"TERM": "xterm-256color"} | env
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=cwd, env=environment, close_fds=True
    ) as process:
        os.close(theirs)
        parts = list[bytes]()
        try:
            while part := _read(ours):
                parts.append(part)
        finally:
            os.close(ours)
            if process.poll() is None and not parts:
                process.kill()
        code = process.wait()
    return OnTerminal(code, b"".join(parts).decode("utf-8"))


def _read(descriptor):
    try:
        return os.read(descriptor, 65536)
    except OSError:  # the last process that had it open has closed it
        return b""
