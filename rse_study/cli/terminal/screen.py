"""Lines, tables, JSON and next steps for readers; what is piped is left whole."""

import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from rse_study.cli.parameters import DEFAULT_STORE
from rse_study.cli.terminal.fitting import harmless, text_table, wrapped
from rse_study.study.definition.shipped import shipped_studies

if TYPE_CHECKING:
    import pandas as pd

SHOWN = ("loss", "dev")
MOST_NAMED = 8
"""left-out columns that are named"""


def console_of(stream: Any) -> Console:
    """Return a console on a stream, a terminal only where the stream is one."""
    return Console(
        file=stream, force_terminal=stream.isatty(), highlight=False, markup=False, color_system=None
    )


def stdout() -> Console:
    """Return the console of answers."""
    return console_of(sys.stdout)


def stderr() -> Console:
    """Return the console of notes, and of progress where the answer is data."""
    return console_of(sys.stderr)


def width_of(console: Console) -> int | None:
    """Return the columns of a terminal; None, and so no limit, elsewhere."""
    return console.width if console.is_terminal else None


def announce(*texts: str) -> None:
    """Print sentences on stdout, each on its line, on a terminal broken at words."""
    for text in texts:
        say(text, stdout())


def say(text: str, console: Console) -> None:
    """Print sentences on a console, on a terminal broken at words."""
    put(wrapped(text, width_of(console)), console)


def put(text: str, console: Console) -> None:
    """Print a text at once, without control characters, above any live display."""
    console.print(harmless(text), markup=False, highlight=False, emoji=False, soft_wrap=True)
    console.file.flush()


def marked(text: str, is_degenerate: object) -> str:
    """Mark a score that was measured on a model which says one and the same."""
    return f"{text} (degenerate)" if is_degenerate else text


def describe(metrics: Mapping[str, float], shown: Sequence[str] = SHOWN) -> str:
    """Return the few metrics that a reader follows, on one line."""
    known = ((name, metrics[name], metrics.get(f"{name}/degenerate")) for name in shown if name in metrics)
    return "  ".join(marked(f"{name} {value:.4g}", is_degenerate) for name, value, is_degenerate in known)


def print_table(
    frame: "pd.DataFrame",
    see_all: str,
    *,
    droppable: Sequence[str] = (),
    is_wide: bool = False,
    console: Console | None = None,
) -> None:
    """Print a frame of texts as `print_rows` does."""
    rows = frame.astype(str).to_numpy().tolist()
    print_rows(list(frame.columns), rows, see_all, droppable=droppable, is_wide=is_wide, console=console)


def print_rows(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    see_all: str,
    *,
    droppable: Sequence[str] = (),
    is_wide: bool = False,
    console: Console | None = None,
) -> None:
    """Print rows of texts with the columns a terminal has room for.

    Headings in `droppable` go first, in this order; `see_all` says where the columns left out can be seen.
    """
    screen = console or stdout()
    table = text_table(headings, rows, None if is_wide else width_of(screen), droppable)
    put("\n".join(table.lines), screen)
    if table.dropped:
        say(f"not shown: {_named(table.dropped)}; see them with {see_all}", screen)


def _named(names: Sequence[str]) -> str:
    number = f"{len(names)} column{'s' * (len(names) > 1)}"
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{number} ({', '.join(names[:MOST_NAMED])}{more})"


def json_of(content: Any) -> str:
    """Write JSON in ASCII; NaN and infinity become null.

    >>> print(json_of([0.5, float("nan")]))
    [
     0.5,
     null
    ]
    """
    return json.dumps(_finite(content), indent=1, allow_nan=False)


def _finite(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not isfinite(content) else content


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
