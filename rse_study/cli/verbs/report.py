"""What `report` does: the page of a study or of attacks, and a study's tables."""

from pathlib import Path
from typing import Literal

from analysis.report import write_report
from rse_study.cli.activity_bars import ActivityBars
from rse_study.cli.arguments import study_folder
from rse_study.cli.next_step import suggest
from rse_study.cli.screen import stderr
from rse_study.cli.writable import require_file, require_folder
from rse_study.errors import InputError
from rse_study.results.attack_file import is_attack_folder
from rse_study.results.export import write_tables
from rse_study.results.reader import Reader


def write_page(
    study: str, store: Path, out: Path | None, tables: Path | None, kind: Literal["parquet", "csv"]
) -> None:
    """Write the page, and tables where a folder for them is named; print every path.

    Parameters
    ----------
    study
        A study that has run, or a folder of attacks.
    store
        Folder that holds the studies' folders.
    out
        The HTML file; None for its place in the study's folder.
    tables
        Folder for the ledger's tables, or None.
    kind
        Format of the tables.
    """
    if out:
        require_file(out, where="--out")
    if is_attack_folder(Path(study)):
        _report_attacks(Path(study), out, tables)
        return
    folder = study_folder(study, store)
    if tables:
        require_folder(tables, where="--tables")
    with ActivityBars(stderr()) as bars, bars.waiting("writing the report"):  # stdout gets its path
        path = write_report(folder, out)
    print(path)
    if tables:
        with Reader(folder) as reader:
            for table in write_tables(reader, tables, kind):
                print(table)
    suggest(f"open {path} in a browser")


def _report_attacks(folder: Path, out: Path | None, tables: Path | None) -> None:
    from analysis.attacks import write_attacks

    if tables:
        rule, remedy = "tables are made of a study's ledger", f"Read {folder}/*.jsonl: an outcome a line"
        raise InputError("attacks have none", where=f"--tables {tables}", rule=rule, remedy=remedy)
    print(write_attacks(folder, out))
