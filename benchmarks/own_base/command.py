"""Is the licence-free text at hand enough for a base encoder of our own?

python -m benchmarks.own_base [--sentences 4000 16000 64000 0] [--steps 3000] [--seeds 0 1 2] [--out FOLDER]

Bases of four layers, d 256, are trained as masked LMs on ever more text (0: all of it), each amount a beginning of the
next, with equal steps; the largest with every seed, the others with the first. SimCSE then trains each on Wikipedia
sentences, and so it does the untrained encoder that the base began as. A base of our own is accepted if with each of
three masked-LM seeds it lies above that encoder, before and after SimCSE, and above token overlap on STS-B dev. One
thread. What is done is kept in the folder: the same command goes on. `python -m benchmarks.own_base.report FOLDER`
shows a folder again.
"""

import argparse

import typer

from benchmarks.own_base.settings import parser
from rse_study.cli.errors import guarded


def main(arguments: list[str] | None = None) -> None:
    """Measure what the command line asks for, and report it."""
    options = parser().parse_args(arguments)
    try:
        guarded(measure_and_report)(options)
    except typer.Exit as ended:
        raise SystemExit(ended.exit_code) from None


def measure_and_report(options: argparse.Namespace) -> None:
    """Make the rows that are missing, then show all of them."""
    # Imported here: Ctrl-C while torch loads ends in one line, too.
    from benchmarks.own_base.measuring import measure_rows
    from benchmarks.own_base.report import report, require_targets

    require_targets(options.tables, options.figures)  # before hours of training
    measure_rows(options)
    report(options.out, options.tables, options.figures)
