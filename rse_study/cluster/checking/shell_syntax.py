"""Syntax checks of shell text by bash, without running it."""

import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

from rse_study.errors import InputError

REMEDY = "Look at `activate`, and at what else the spec has of shell"
COMMANDS = ("setup_commands", "head_start_ray_commands", "worker_start_ray_commands")


def check_shell(text: str, *, where: str) -> Iterator[InputError]:
    """Yield bash's syntax errors, if this machine has bash."""
    bash = shutil.which("bash")
    if bash is None:
        return
    read = subprocess.run([bash, "-n"], input=text, text=True, capture_output=True, check=False)
    if read.returncode:
        line = read.stderr.strip().splitlines()[0].removeprefix(f"{bash}: ")
        yield InputError(line, where=where, rule="bash cannot read what is rendered", remedy=REMEDY)


def check_commands(content: dict[str, Any], *, where: str) -> Iterator[InputError]:
    """Yield bash's syntax errors in a launcher's commands, each checked separately."""
    for key in COMMANDS:
        for command in content.get(key, ()):
            yield from check_shell(command, where=where)
