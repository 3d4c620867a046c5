"""The bodies of `data list`, `data verify` and `data fetch`."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rse_study.cli.terminal.activity_bars import ActivityBars
from rse_study.cli.terminal.errors import BAD_INPUT
from rse_study.cli.terminal.next_step import command, suggest
from rse_study.cli.terminal.screen import announce, stderr
from rse_study.data.catalogue import list_sets, verify
from rse_study.data.location import data_dir

MOST_NAMED = 3  # of the files that a set lacks


def show_sets(data: Path | None) -> None:
    """Print every data set, its licence, and which of its files are here."""
    folder = data or data_dir()
    announce(f"data folder: {folder}")
    entries = list_sets(folder)
    for entry in entries:
        here = f"{entry.num_present} of {entry.num_files} files here" if entry.missing else "here"
        fetched = ", can be fetched" if entry.can_fetch and entry.missing else ""
        announce(f"{entry.name}: {entry.what} [{here}{fetched}]\n    {entry.licence}; {entry.source}")
        if entry.missing and not entry.can_fetch:
            more = ", ..." if len(entry.missing) > MOST_NAMED else ""
            announce(f"    to be placed by hand: {', '.join(entry.missing[:MOST_NAMED])}{more}")
    absent = [entry.name for entry in entries if entry.can_fetch and entry.missing]
    suggest(command("data", "fetch", absent[0]) if absent else command("data", "verify"))


def verify_sets(names: list[str], data: Path | None) -> int | None:
    """Print how each file compares with its checksum; exit code 2 where one differs."""
    with ActivityBars(stderr()) as bars:
        files = verify(names, data or data_dir(), partial(bars.advanced, "files read"))
    for file in files:
        announce(f"{file.status:>10}  {file.name}  {file.path}")
    if any(file.status == "different" for file in files):
        suggest("move the files that differ away, then " + command("data", "fetch", "NAME"))
    return BAD_INPUT if any(file.status == "different" for file in files) else None


def fetch_sets(names: Sequence[str], data: Path | None, mirror: Path | None) -> None:
    """Fetch missing files of data sets from a mirror or the hub, and print them."""
    from rse_study.data.fetch import fetch

    folder = data or data_dir()
    for name in names:
        with ActivityBars(stderr()) as bars:
            fetched = fetch(name, folder, mirror, partial(bars.advanced, f"{name}: files"))
        print(f"{name}: nothing was missing" if not fetched else f"{name}:")
        for file in fetched:
            print(f"    {file}")
    suggest(command("data", "verify", *names))
