"""`validate`, `run`, `report`, `studies`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from rse_study.cli.arguments import (
    DEFAULT_STORE,
    Overrides,
    Store,
    StudyArgument,
    study_file,
    study_folder,
)
from rse_study.cli.plan import MaxCost, MaxHours
from rse_study.cli.writable import require_file, require_folder
from rse_study.errors import InputError


def validate(study: StudyArgument, override: Overrides = None) -> None:
    """Check a study: every problem at once, every edge of its space, every row of its grid, its data.

    Exit code 2 with a line for each problem.
    """
    from rse_study.cli.verbs.validate import validate_here

    validate_here(study_file(study), override or ())


def run(
    study: StudyArgument,
    override: Overrides = None,
    store: Store = DEFAULT_STORE,
    cpus: Annotated[int, typer.Option(min=0, help="CPUs to use; 0 = all this process may use.")] = 0,
    address: Annotated[
        str, typer.Option(help="Address of a running Ray cluster; default: Ray on this machine.")
    ] = "",
    max_hours: MaxHours = None,
    max_cost: MaxCost = None,
) -> int:
    """Run a study, or go on with one that was interrupted; then write its report.

    Ctrl-C lets running cells end first; once more stops now. Exit code 0 where every cell ended well, 3 where some
    did not, 4 where the study costs more than its budget or --max-hours and --max-cost allow, 130 after Ctrl-C.
    """
    from rse_study.cli.verbs.run import run_here

    return run_here(study_file(study), override or (), store, cpus, address, max_hours, max_cost)


def report(
    study: Annotated[
        str,
        typer.Argument(
            metavar="STUDY",
            help="A study that has run: its name, folder or YAML file. Or a folder of attacks.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="The HTML file; default: report.html in the study's folder, attacks.html of attacks."
        ),
    ] = None,
    tables: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the ledger's tables into this folder, too.")
    ] = None,
    kind: Annotated[
        Literal["parquet", "csv"], typer.Option("--as", help="Format of the tables.")
    ] = "parquet",
    store: Store = DEFAULT_STORE,
) -> None:
    """Write the study's report: one self-contained HTML file. With --tables, its numbers for other programs.

    Of a folder that `evaluate --suite attacks` wrote: the page of its attacks.
    """
    from analysis.report import write_report
    from rse_study.results.attack_file import is_attack_folder
    from rse_study.results.export import write_tables
    from rse_study.results.reader import Reader

    if out:
        require_file(out, where="--out")
    if is_attack_folder(Path(study)):
        _report_attacks(Path(study), out, tables)
        return
    folder = study_folder(study, store)
    if tables:
        require_folder(tables, where="--tables")
    print(write_report(folder, out))
    if tables:
        with Reader(folder) as reader:
            for path in write_tables(reader, tables, kind):
                print(path)


def _report_attacks(folder: Path, out: Path | None, tables: Path | None) -> None:
    from analysis.attacks import write_attacks

    if tables:
        rule, remedy = "tables are made of a study's ledger", f"Read {folder}/*.jsonl: an outcome a line"
        raise InputError("attacks have none", where=f"--tables {tables}", rule=rule, remedy=remedy)
    print(write_attacks(folder, out))


def studies(store: Store = DEFAULT_STORE) -> None:
    """List the studies and trials that come with the package, and the studies that have run here."""
    from rse_study.cli.verbs.studies import lines_of

    for line in lines_of(store):
        print(line)
