"""The command `rse-study`; heavy imports wait until a verb needs them."""

import gc

FIRST_COLLECTION = 50_000
"""objects made before the first garbage collection; with Python's own 700 imports set off a hundred"""


def main() -> None:
    """Entry point."""
    # Modules and classes are no garbage: looking for some while they are made takes a tenth of a short command.
    gc.set_threshold(FIRST_COLLECTION)
    from rse_study.cli.app import app

    app(prog_name="rse-study")
