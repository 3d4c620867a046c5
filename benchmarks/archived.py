"""A study's archive as the input of a command that prints tables."""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from rse_study.results.archive import unpack_archive
from rse_study.results.reader import Reader


@contextmanager
def archived(program: str, arguments: Sequence[str] | None) -> Iterator[tuple[Reader, Path | None]]:
    """Open the archive that a command line names, and give the folder for its tables."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{program}")
    parser.add_argument("archive", type=Path, metavar="STUDY.tar.xz")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write the tables as CSV, too")
    options = parser.parse_args(arguments)
    with TemporaryDirectory() as store, Reader(unpack_archive(options.archive, Path(store))) as reader:
        yield reader, options.out


def write_tables(folder: Path | None, **tables: pd.DataFrame) -> None:
    """Write each table as NAME.csv; nothing without a folder."""
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in tables.items():
            table.to_csv(folder / f"{name}.csv", index=False, float_format="%.6g")
