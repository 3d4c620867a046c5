"""Signature and help of `rse-study data ...`."""

from pathlib import Path
from typing import Annotated

import typer

from rse_study.cli.arguments.completion import complete_data_set, complete_study
from rse_study.cli.arguments.declarations import AsJson, DataFolder, OptionalStudyArgument, Overrides
from rse_study.cli.commands import Command


def data_list(
    study: OptionalStudyArgument = None,
    override: Overrides = None,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """List data sets: licence, place, how many of their files are here.

    With STUDY, everything that the study reads, including models.
    """
    from rse_study.cli.verbs.data.listing import show_needs, show_sets

    show_needs(study, override or (), data, as_json=as_json) if study else show_sets(data, as_json=as_json)


def data_verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", autocompletion=complete_data_set, help="Sets; default: all."),
    ] = None,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> int | None:
    """Compare files with their checksums.

    Exit code 2 if a file differs; missing files are only listed.
    """
    from rse_study.cli.verbs.data.listing import verify_sets

    return verify_sets(names or [], data, as_json=as_json)


def data_fetch(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", autocompletion=complete_data_set, help="Sets to fetch."),
    ] = None,
    study: Annotated[
        str | None,
        typer.Option(
            "--for", metavar="STUDY", autocompletion=complete_study, help="Fetch everything that it reads."
        ),
    ] = None,
    override: Overrides = None,
    accept_licence: Annotated[
        bool, typer.Option("--accept-licence", help="Accept licences that forbid some uses.")
    ] = False,
    data: DataFolder = None,
    mirror: Annotated[
        Path | None, typer.Option(help="Folder that holds copies of repositories: OWNER/NAME/...")
    ] = None,
) -> int | None:
    """Fetch the missing files of data sets, or all that a study reads.

    The same command resumes an interrupted download. Exit code 3 if some files must be placed by hand.
    """
    from rse_study.cli.verbs.data.fetching import fetch_for_study, fetch_sets

    if study:
        return fetch_for_study(study, override or (), names or [], data, mirror, is_accepted=accept_licence)
    fetch_sets(names or [], data, mirror, is_accepted=accept_licence)
    return None


DATA_COMMANDS: dict[str, Command] = {"list": data_list, "verify": data_verify, "fetch": data_fetch}
