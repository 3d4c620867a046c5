"""The commands that follow an answer."""

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from rse_study.cli.parameters import DEFAULT_STORE
from rse_study.cli.terminal.screen import say, stderr
from rse_study.study.definition.shipped import shipped_studies


def command(*words: str | Path) -> str:
    """Return a command of ours, ready to be copied.

    >>> command("check", "my study")
    "rse-study check 'my study'"
    """
    return shlex.join(["rse-study", *map(str, words)])


def in_store(store: Path) -> tuple[str, ...]:
    """Return the option that names the store, where it is not the default one."""
    return () if store == DEFAULT_STORE else ("--store", str(store))


def with_overrides(overrides: Sequence[str]) -> tuple[str, ...]:
    """Return the options that repeat these overrides."""
    return tuple(word for override in overrides for word in ("-o", override))


def run_again(name: str, store: Path) -> str:
    """Return the command that continues a study, as far as its file is known."""
    shipped = {path.stem.replace("_", "-"): path.stem for path in shipped_studies()}
    is_shipped = name.replace("_", "-") in shipped
    file = f"{name}.yaml" if os.path.isfile(f"{name}.yaml") else name if is_shipped else "STUDY.yaml"
    return command("run", file, *in_store(store))


def suggest(*steps: str) -> None:
    """Print `Next: ...` on stderr, where it disturbs no pipe, if a step follows."""
    if given := "; ".join(filter(None, steps)):
        sys.stdout.flush()
        say(f"Next: {given}", stderr())
