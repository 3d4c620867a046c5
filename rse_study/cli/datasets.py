"""`data list`, `data verify`, `data fetch`."""

from pathlib import Path
from typing import Annotated

import typer

from rse_study.cli.errors import BAD_INPUT

Folder = Annotated[Path | None, typer.Option("--data", help="Data folder; default: RSE_STUDY_DATA.")]


def show(data: Folder = None) -> None:
    """List every data set: what it is, its licence, how many of its files are here."""
    from rse_study.data.catalogue import list_sets
    from rse_study.data.location import data_dir

    folder = data or data_dir()
    print(f"data folder: {folder}")
    for entry in list_sets(folder):
        here = (
            "here"
            if entry.num_present == entry.num_files
            else f"{entry.num_present} of {entry.num_files} files here"
        )
        fetched = ", can be fetched" if entry.can_fetch and entry.num_present < entry.num_files else ""
        print(f"{entry.name}: {entry.what} [{here}{fetched}]\n    {entry.licence}; {entry.source}")


def verify(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Sets; default: all.")
    ] = None,
    data: Folder = None,
) -> int | None:
    """Compare files with their checksums. Exit code 2 where a file differs; absent ones are only said."""
    from rse_study.data.catalogue import verify as compare
    from rse_study.data.location import data_dir

    found = compare(names or [], data or data_dir())
    for file in found:
        print(f"{file.status:>10}  {file.name}  {file.path}")
    return BAD_INPUT if any(file.status == "different" for file in found) else None


def fetch(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Sets to fetch.")],
    data: Folder = None,
    mirror: Annotated[Path | None, typer.Option(help="Folder that holds copies of hub repositories.")] = None,
) -> None:
    """Fetch the missing files of data sets from the hub."""
    from rse_study.data.fetch import fetch as get
    from rse_study.data.location import data_dir

    folder = data or data_dir()
    for name in names:
        done = get(name, folder, mirror)
        print(f"{name}: nothing was missing" if not done else f"{name}:")
        for file in done:
            print(f"    {file}")
