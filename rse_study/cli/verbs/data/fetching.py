"""The body of `data fetch`: licences and sizes beforehand, then the downloads."""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from rse_study.cli import parameters
from rse_study.cli.arguments.paths import study_file
from rse_study.cli.terminal.activity_bars import ActivityBars
from rse_study.cli.terminal.errors import INCOMPLETE
from rse_study.cli.terminal.screen import announce, command, say, stderr, suggest, with_overrides
from rse_study.cli.verbs.data.listing import lines_of, missing_text, stand_in_for
from rse_study.data import data_dir, study_folders
from rse_study.data.catalogue import CatalogueEntry, catalogue, list_sets
from rse_study.data.download import RemoteFile
from rse_study.data.fetch import downloads, fetch, require_home
from rse_study.data.hub import read_column
from rse_study.data.hub_models import Model, describe_model, fetch_model, is_on_machine
from rse_study.errors import InputError


def fetch_sets(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...", autocompletion=parameters.complete_data_set, help="Sets to fetch."
        ),
    ] = None,
    study: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="STUDY",
            autocompletion=parameters.complete_study,
            help="Fetch everything that it reads.",
        ),
    ] = None,
    override: parameters.Overrides = None,
    is_accepted: Annotated[
        bool, typer.Option("--accept-licence", help="Accept licences that forbid some uses.")
    ] = False,
    data: parameters.DataFolder = None,
    mirror: Annotated[
        Path | None, typer.Option(help="Folder that holds copies of repositories: OWNER/NAME/...")
    ] = None,
) -> int | None:
    """Fetch the missing files of data sets, or all that a study reads.

    The same command resumes an interrupted download. Exit code 3 if some files must be placed by hand.
    """
    if study:
        return fetch_for_study(study, override or (), names or (), data, mirror, is_accepted=is_accepted)
    folder = data or data_dir()
    if not names:
        remedy = "Name sets (rse-study data list), or a study by --for"
        raise InputError("nothing to fetch", where="NAME", remedy=remedy)
    for name in names:
        require_home(catalogue().get(name))
    _fetch(names, [], folder, mirror, is_accepted)
    suggest(command("data", "verify", *names))
    return None


def fetch_for_study(
    study: str,
    overrides: Sequence[str],
    names: Sequence[str],
    data: Path | None,
    mirror: Path | None,
    *,
    is_accepted: bool,
) -> int | None:
    """Fetch all that a study reads; exit code 3 where something is still missing."""
    from rse_study.study.checking.data_check import CORPUS, check_data, needs_of
    from rse_study.study.checking.validation import read_study

    folder = data or data_dir()
    checked = read_study(study_file(study), overrides)
    needs = needs_of(checked)
    entries = [entry for entry in list_sets(folder, needs.sets) if entry.missing]
    lacking = [entry for entry in entries if not stand_in_for(entry, folder)]
    wanted = [*names, *(entry.name for entry in lacking if entry.can_fetch)]
    # A mirror holds data sets; models are copied with the hub's cache.
    folders = study_folders(checked.folder, folder)
    models = [] if mirror else [model for model in needs.models if not is_on_machine(model, *folders)]
    _fetch(list(dict.fromkeys(wanted)), models, folder, mirror, is_accepted)
    for dataset in needs.datasets:
        next(read_column(dataset, *folders), None)
    for line in (line for entry in lacking if not entry.can_fetch for line in lines_of(entry)):
        announce(line)
    # A corpus that is here and cannot be trained on is not missing: that is for `validate` to say.
    problems = [one for one in check_data(checked, folder) if not one.what.endswith(CORPUS)]
    if problems:
        say(missing_text(problems, study), stderr())
    suggest(command("validate", study, *with_overrides(overrides)))
    return INCOMPLETE if problems else None


def _fetch(
    names: Sequence[str], models: Sequence[Model], folder: Path, mirror: Path | None, is_accepted: bool
) -> None:
    entries = list_sets(folder, names)
    _require_accepted(entries, is_accepted)
    with ActivityBars(stderr()) as bars, bars.waiting("asking for sizes"):
        sizes = downloads([entry.name for entry in entries if entry.missing], folder, mirror)
        of_models = {name: describe_model((name, revision)) for name, revision in models}
    for entry in entries:
        if entry.missing:
            announce(f"{entry.name}: {_size(sizes.get(entry.name, []))}; {entry.data_set.licence}")
    for name, found in of_models.items():
        announce(f"model {name}: {_size(found)}")
    files = [file for found in (*sizes.values(), *of_models.values()) for file in found]
    announce(f"total download: {_size(files)}")
    for name in names:
        with ActivityBars(stderr()) as bars:
            fetched = fetch(name, folder, mirror, partial(bars.advanced, f"{name}: bytes"))
        announce(f"{name}:")
        for file in fetched:
            announce(f"    {file}")
    for model in models:
        with ActivityBars(stderr()) as bars:
            paths = fetch_model(model, partial(bars.advanced, f"{model[0]}: bytes"))
        announce(f"model {model[0]}: {len(paths)} files in the hub's cache")


def _require_accepted(entries: Iterable[CatalogueEntry], is_accepted: bool) -> None:
    bound = [
        f"{entry.name} ({entry.data_set.licence})"
        for entry in entries
        if entry.data_set.restricted and entry.missing
    ]
    if bound and not is_accepted:
        rule = "the licence forbids some uses"
        remedy = "Read the licences; if you accept them, add --accept-licence"
        raise InputError(", ".join(bound), where="data fetch", rule=rule, remedy=remedy)


def _size(files: Iterable[RemoteFile]) -> str:
    """Add up the files that are not here yet, each counted once."""
    by_place = {file.place: file.size for file in files if not file.place.is_file()}
    if not by_place:
        return "nothing to download"
    total, unknown = sum(by_place.values()), sum(not size for size in by_place.values())
    known = f"{total / 1e6:,.1f} MB" if total else ""
    return " and ".join(part for part in (known, f"{unknown} of unknown size" if unknown else "") if part)
