"""The command `rse-study`; heavy imports wait until a verb needs them."""

import gc
import os
import sys

FIRST_COLLECTION = 50_000
"""objects made before the first garbage collection; with Python's own 700 imports set off a hundred"""


def main() -> None:
    """Entry point."""
    # Modules and classes are no garbage: looking for some while they are made takes a tenth of a short command.
    gc.set_threshold(FIRST_COLLECTION)
    for name in ("stdin", "stdout", "stderr"):  # None where a daemon has closed them
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), "r+"))
    try:
        _leave_out_working_folder()
    except FileNotFoundError:
        print("the working folder was removed: change to another one", file=sys.stderr)
        sys.exit(2)
    # Torch would keep compiled modules in /tmp, under a name that any user may take.
    cache = os.environ.get("RSE_STUDY_CACHE") or os.path.expanduser("~/.cache/rse_study")
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", os.path.join(cache, "inductor"))
    from rse_study.cli.app import app

    app(prog_name="rse-study")


def _leave_out_working_folder() -> None:
    """Import what is installed, not a random.py of the working folder, in children too.

    `python -m` and an empty entry of PYTHONPATH put that folder first. It keeps its place if this very code is in it.
    A class that a study names is looked for there all the same.
    """
    here, ours = os.getcwd(), os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    os.environ["PYTHONSAFEPATH"] = "1"
    if here != ours:
        sys.path[:] = [one for one in sys.path if os.path.abspath(one) != here]
        places = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        os.environ["PYTHONPATH"] = os.pathsep.join(one for one in places if os.path.abspath(one) != here)
