"""What `data list`, `data verify` and `data fetch` do."""

from collections.abc import Sequence
from pathlib import Path

from rse_study.cli.errors import BAD_INPUT
from rse_study.data.catalogue import list_sets, verify
from rse_study.data.location import data_dir


def show_sets(data: Path | None) -> None:
    """Print every data set: what it is, its licence, how many of its files are here."""
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


def verify_sets(names: list[str], data: Path | None) -> int | None:
    """Print how each file compares with its checksum; exit code 2 where one differs."""
    files = verify(names, data or data_dir())
    for file in files:
        print(f"{file.status:>10}  {file.name}  {file.path}")
    return BAD_INPUT if any(file.status == "different" for file in files) else None


def fetch_sets(names: Sequence[str], data: Path | None, mirror: Path | None) -> None:
    """Fetch what is missing of data sets, and print the files.

    Parameters
    ----------
    names
        Sets of the catalogue.
    data
        Data folder; None for RSE_STUDY_DATA.
    mirror
        Folder that holds copies of hub repositories; None for the hub.
    """
    from rse_study.data.fetch import fetch

    folder = data or data_dir()
    for name in names:
        fetched = fetch(name, folder, mirror)
        print(f"{name}: nothing was missing" if not fetched else f"{name}:")
        for file in fetched:
            print(f"    {file}")
