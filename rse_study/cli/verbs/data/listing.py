"""The bodies of `data list` and `data verify`."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from rse_study.cli import parameters
from rse_study.cli.arguments.paths import study_file
from rse_study.cli.terminal.activity_bars import ActivityBars
from rse_study.cli.terminal.errors import BAD_INPUT
from rse_study.cli.terminal.screen import announce, command, json_of, stderr, suggest, with_overrides
from rse_study.data import data_dir, study_folders
from rse_study.data.catalogue import CatalogueEntry, list_sets, verify
from rse_study.data.text_files import find_file
from rse_study.errors import InputError

MOST_NAMED = 3  # of the files that a set lacks


def show_sets(
    study: parameters.OptionalStudyArgument = "",
    override: parameters.Overrides = None,
    data: parameters.DataFolder = None,
    as_json: parameters.AsJson = False,
) -> None:
    """List data sets: licence, place, how many of their files are here.

    With STUDY, everything that the study reads, including models.
    """
    if study:
        show_needs(study, override or (), data, as_json=as_json)
        return
    folder = data or data_dir()
    entries = list_sets(folder)
    if as_json:
        print(json_of({"folder": str(folder), "sets": [_content(entry) for entry in entries]}))
        return
    announce(f"data folder: {folder}")
    for line in (line for entry in entries for line in lines_of(entry)):
        announce(line)
    absent = [entry.name for entry in entries if entry.can_fetch and entry.missing]
    suggest(command("data", "fetch", absent[0]) if absent else command("data", "verify"))


def show_needs(study: str, overrides: Sequence[str], data: Path | None, *, as_json: bool = False) -> None:
    """Print all that a study reads, where each lies or goes, and whether it is here."""
    # These import the whole configuration, which `data list` alone does without.
    from rse_study.data.hub_models import check_models, is_on_machine
    from rse_study.study.checking.data_check import needs_of
    from rse_study.study.checking.validation import read_study

    folder = data or data_dir()
    checked = read_study(study_file(study), overrides)
    needs = needs_of(checked)
    entries, folders = list_sets(folder, needs.sets), study_folders(checked.folder, folder)
    problems = check_models((model for model in needs.models if not is_on_machine(model, *folders)), *folders)
    if as_json:
        content = {
            "folder": str(folder),
            "sets": [_content(entry, stand_in_for(entry, folder)) for entry in entries],
            "corpora": {path: _whereabouts(path, folders) for path in needs.texts},
            "datasets": [one.dataset for one in needs.datasets],
            "models": {one[0]: str(problems.get(one, "")) for one in needs.models},
        }
        print(json_of(content))
        return
    announce(f"data folder: {folder}")
    for line in (line for entry in entries for line in lines_of(entry, stand_in_for(entry, folder))):
        announce(line)
    for path in needs.texts:
        announce(f"corpus {path}: {_whereabouts(path, folders)}")
    for dataset in needs.datasets:
        announce(f"corpus {dataset.dataset}: a folder in the hub's layout, or a name on the hub")
    for model in needs.models:
        otherwise = str(problems.get(model, "")) or "on the hub, can be fetched"
        announce(f"model {model[0]}: {'here' if is_on_machine(model, *folders) else otherwise}")
    words = (study, *with_overrides(overrides))
    suggest(command("data", "fetch", "--for", *words), command("validate", *words))


def _content(entry: CatalogueEntry, stand_in: str = "") -> dict[str, Any]:
    said = entry.data_set
    return {
        "name": entry.name,
        **{key: getattr(said, key) for key in ("what", "common_path", "licence", "source", "restricted")},
        **{key: getattr(entry, key) for key in ("num_files", "num_present", "missing", "can_fetch")},
        "stand_in": stand_in,
    }


def lines_of(entry: CatalogueEntry, stand_in: str = "") -> Iterator[str]:
    """Describe a set: what it is, what of it is here, its place and licence."""
    here = f"{entry.num_present} of {entry.num_files} files here" if entry.missing else "here"
    if stand_in:
        here = f"{stand_in} is used instead"
    fetched = ", can be fetched" if entry.can_fetch and entry.missing and not stand_in else ""
    yield f"{entry.name}: {entry.data_set.what} [{here}{fetched}]"
    yield f"    {entry.data_set.common_path}; {entry.data_set.licence}; {entry.data_set.source}"
    if entry.missing and not entry.can_fetch and not stand_in:
        more = ", ..." if len(entry.missing) > MOST_NAMED else ""
        yield f"    place by hand: {', '.join(entry.missing[:MOST_NAMED])}{more}"
        yield f"    then check: {command('data', 'verify', entry.name)}"


def missing_text(problems: Sequence[InputError], study: str) -> str:
    """Return one line about all that is missing here; of a single thing, all of it."""
    if len(problems) == 1:
        return f"missing here: {problems[0]}"
    more = f" and {len(problems) - MOST_NAMED} more" if len(problems) > MOST_NAMED else ""
    named = ", ".join(problem.what for problem in problems[:MOST_NAMED])
    return f"missing here: {named}{more}; `{command('validate', study)}` says what to do about each"


def stand_in_for(entry: CatalogueEntry, folder: Path) -> str:
    """Return the set that is here as a whole and is read in place of one that is not."""
    from rse_study.downstream import STAND_INS

    other = STAND_INS.get(entry.name, "") if entry.missing else ""
    return other if other and not list_sets(folder, [other])[0].missing else ""


def _whereabouts(path: str, folders: tuple[Path, ...]) -> str:
    try:
        return f"here, {find_file(path, *folders)}"
    except InputError as problem:
        return f"{problem.what}: {problem.rule or problem.where}"


def verify_sets(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...", autocompletion=parameters.complete_data_set, help="Sets; default: all."
        ),
    ] = None,
    data: parameters.DataFolder = None,
    as_json: parameters.AsJson = False,
) -> int | None:
    """Compare files with their checksums.

    Exit code 2 if a file differs; missing files are only listed.
    """
    with ActivityBars(stderr()) as bars:
        files = verify(names or [], data or data_dir(), partial(bars.advanced, "files read"))
    code = BAD_INPUT if any(file.status == "different" for file in files) else None
    if as_json:
        print(
            json_of([{key: str(getattr(file, key)) for key in ("name", "path", "status")} for file in files])
        )
        return code
    for file in files:
        announce(f"{file.status:>10}  {file.name}  {file.path}")
    if code:
        suggest("move the files that differ away, then " + command("data", "fetch", "NAME"))
    return code
