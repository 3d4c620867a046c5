"""The command `rse-study`; heavy imports wait until a verb needs them."""

import gc
import os
import sys
from contextlib import suppress

from rse_study.errors import InputError

FIRST_COLLECTION = 50_000
"""objects made before the first garbage collection; with Python's own 700 imports set off a hundred"""


def main() -> None:
    """Entry point."""
    # Modules and classes are no garbage: looking for some while they are made takes a tenth of a short command.
    gc.set_threshold(FIRST_COLLECTION)
    with suppress(FileNotFoundError):  # it was removed
        _look_in_working_folder_last()
    from rse_study.cli.terminal.errors import exit_code_of

    if code := exit_code_of(_require_words):
        sys.exit(code)
    from rse_study.cli.app import app

    app(prog_name="rse-study")


def _look_in_working_folder_last() -> None:
    """Import what is installed rather than a random.py of the working folder, in children too.

    `python -m` and an empty entry of PYTHONPATH put that folder first. It keeps its place if this very code is in it.
    """
    here, ours = os.getcwd(), os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    os.environ["PYTHONSAFEPATH"] = "1"
    if here != ours:
        sys.path.sort(key=lambda place: os.path.abspath(place) == here)
        places = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        os.environ["PYTHONPATH"] = os.pathsep.join(one for one in places if os.path.abspath(one) != here)


def _require_words() -> None:
    """Raise InputError for a working folder that is gone, and for bytes that are no text."""
    try:
        here = os.getcwd()
    except FileNotFoundError:
        raise InputError("was removed", where="working folder", remedy="Change to another one") from None
    for word in (here, *sys.argv[1:]):
        if word != word.encode(errors="ignore").decode():
            where = "working folder" if word is here else f"argument {sys.argv.index(word)}"
            what = f"{os.fsencode(word)!r} is not UTF-8"
            raise InputError(what, where=where, remedy="Rename the file or folder")
