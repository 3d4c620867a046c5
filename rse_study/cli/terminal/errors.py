"""The one place where errors become messages and exit codes, not tracebacks."""

import functools
import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import typer

from rse_study.errors import GOES_ON, InputError, NonFiniteLoss, OverBudget, Unavailable, first_line

OK, CONTRADICTED, BAD_INPUT, INCOMPLETE, OVER_BUDGET, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 4, 70, 130
Verb = TypeVar("Verb", bound=Callable[..., Any])


def guarded(verb: Verb) -> Verb:
    """Wrap a verb: every error becomes one message on stderr and an exit code."""

    @functools.wraps(verb)
    def wrapper(*args: Any, **kwargs: Any) -> None:
        code = _run(_require_words) or _run(functools.partial(verb, *args, **kwargs))
        if code != OK:
            raise typer.Exit(code)

    return wrapper  # type: ignore[return-value]


def _require_words() -> None:
    """Raise InputError for bytes that are no text: no report or ledger could hold them."""
    for word in (os.getcwd(), *sys.argv[1:]):
        if word != word.encode(errors="ignore").decode():
            what, remedy = f"{os.fsencode(word)!r} is not UTF-8", "Rename the file or folder"
            raise InputError(what, where="the command or its working folder", remedy=remedy)


def _run(call: Callable[[], int | None]) -> int:
    try:
        return call() or OK
    except InputError as error:
        return _say(str(error), BAD_INPUT)
    except NonFiniteLoss as error:
        return _say(f"the run failed: {error}", INCOMPLETE)
    except OverBudget as error:
        return _say(f"over budget: {error}", OVER_BUDGET)
    except Unavailable as error:
        return _say(f"gave up: {error}", INCOMPLETE)
    except KeyboardInterrupt:
        return _say(f"interrupted; {GOES_ON}", INTERRUPTED)
    except typer.Exit:
        raise
    except BrokenPipeError:
        # Whoever read our output has had enough; Python would complain about it once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except Exception as error:
        from rse_study.results.files.schema import failure_of_disk

        if failure := failure_of_disk(error):
            return _say(f"gave up: {failure}", INCOMPLETE)
        what = f"{type(error).__name__}: {first_line(error)[:300]}"
        return _say(f"internal error: {what} (traceback: {_write_log()})", INTERNAL)


def _say(message: str, code: int) -> int:
    from rse_study.cli.terminal.screen import say, stderr

    say(message, stderr())
    return code


def _write_log() -> Path:
    """Write the traceback to the cache folder, or to a temporary one if that cannot be written."""
    from rse_study.data import cache_dir

    folder = cache_dir() / "logs"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path(tempfile.gettempdir())
    with tempfile.NamedTemporaryFile(dir=folder, prefix="rse-study-", suffix=".log", delete=False) as log:
        log.write(f"{' '.join(sys.argv)}\n{traceback.format_exc()}".encode(errors="backslashreplace"))
    return Path(log.name)
