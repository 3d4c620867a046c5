"""The command `rse-study`.

Every verb is one function call, and heavy imports wait until a verb needs them.
"""

import gc

FIRST_COLLECTION = 50_000
"""Objects made before a look for garbage; Python's own 700 are made a hundred times by imports."""


def main() -> None:
    """Entry point."""
    # Modules and classes are no garbage: looking for some while they are made takes a tenth of a short command.
    gc.set_threshold(FIRST_COLLECTION)
    from rse_study.cli.app import app

    app(prog_name="rse-study")
