"""What `report` does: the page of a study or of attacks, and a study's tables."""

from pathlib import Path
from typing import Literal

from analysis.report import write_report
from rse_study.cli.arguments import study_folder
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
    if not study:
        remedy = "Name one (rse-study studies lists them), or ask for all: rse-study report --all"
        raise InputError("no study is named", where="STUDY", remedy=remedy)
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


def write_index_page(study: str, store: Path, out: Path | None, tables: Path | None, watch: bool) -> None:
    """Write an index of all studies of a store, and their reports; print its path.

    Parameters
    ----------
    study
        Nothing: the index is of all of them.
    store
        Folder that holds the studies' folders.
    out
        The HTML file; None for index.html in the store.
    tables
        Nothing: they are of one study.
    watch
        False: an index is written once.
    """
    from analysis.index import study_folders, write_index

    for name, given in (("STUDY", study), ("--tables", tables), ("--watch", watch)):
        if given:
            rule, remedy = "--all is of all studies at once", f"Leave out {name}, or --all"
            raise InputError(f"{given}" if study else "is of one study", where=name, rule=rule, remedy=remedy)
    if out:
        require_file(out, where="--out")
    elif not study_folders(store):
        raise InputError("no study has run here", where=str(store), remedy="Run one: rse-study run STUDY")
    print(write_index(store, out))


def _report_attacks(folder: Path, out: Path | None, tables: Path | None) -> None:
    from analysis.attacks import write_attacks

    if tables:
        rule, remedy = "tables are made of a study's ledger", f"Read {folder}/*.jsonl: an outcome a line"
        raise InputError("attacks have none", where=f"--tables {tables}", rule=rule, remedy=remedy)
    print(write_attacks(folder, out))
