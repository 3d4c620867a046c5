"""The command `rse-study`.

Every verb is one function call, and heavy imports wait until a verb needs them.
"""


def main() -> None:
    """Entry point."""
    from rse_study.cli.app import app

    app(prog_name="rse-study")
