"""The bodies of `data list`, `data verify` and `data fetch`."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from rse_study.cli import parameters
from rse_study.cli.arguments import study_file
from rse_study.cli.terminal.activity_bars import ActivityBars
from rse_study.cli.terminal.errors import BAD_INPUT, INCOMPLETE
from rse_study.cli.terminal.screen import announce, command, json_of, say, stderr, suggest, with_overrides
from rse_study.data import data_dir, study_folders
from rse_study.data.catalogue import CatalogueEntry, catalogue, list_sets, verify
from rse_study.data.download import RemoteFile
from rse_study.data.fetch import downloads, fetch, require_home
from rse_study.data.hub import read_columns
from rse_study.data.hub_models import Model, check_models, describe_model, fetch_model, is_on_machine
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
    announce(f"data folder: {folder}", *(line for entry in entries for line in lines_of(entry)))
    absent = [entry.name for entry in entries if entry.can_fetch and entry.missing]
    suggest(command("data", "fetch", absent[0]) if absent else command("data", "verify"))


def show_needs(study: str, overrides: Sequence[str], data: Path | None, *, as_json: bool = False) -> None:
    """Print all that a study reads, where each lies or goes, and whether it is here."""
    # These import the whole configuration, which `data list` alone does without.
    from rse_study.study.checking.data_check import needs_of
    from rse_study.study.checking.validation import read_study

    folder = data or data_dir()
    checked = read_study(study_file(study), overrides)
    needs = needs_of(checked)
    entries, folders = list_sets(folder, needs.sets), study_folders(checked.folder, folder)
    problems = check_models((model for model in needs.models if not is_on_machine(model, *folders)), *folders)
    stand_ins = {entry.name: stand_in_for(entry, folder) for entry in entries}
    corpora = {path: _whereabouts(path, folders) for path in needs.texts}
    if as_json:
        content = {
            "folder": str(folder),
            "sets": [_content(entry, stand_ins[entry.name]) for entry in entries],
            "corpora": corpora,
            "datasets": [one.dataset for one in needs.datasets],
            "models": {one[0]: str(problems.get(one, "")) for one in needs.models},
        }
        print(json_of(content))
        return
    announce(f"data folder: {folder}")
    announce(*(line for entry in entries for line in lines_of(entry, stand_ins[entry.name])))
    announce(*(f"corpus {path}: {place}" for path, place in corpora.items()))
    on_hub = "a folder in the hub's layout, or a name on the hub"
    announce(*(f"corpus {one.dataset}: {on_hub}" for one in needs.datasets))
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
        parameters.argument("[NAME]...", "Sets; default: all.", parameters.complete_data_set),
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
    announce(*(f"{file.status:>10}  {file.name}  {file.path}" for file in files))
    if code:
        suggest("move the files that differ away, then " + command("data", "fetch", "NAME"))
    return code


def fetch_sets(
    names: Annotated[
        list[str] | None, parameters.argument("[NAME]...", "Sets to fetch.", parameters.complete_data_set)
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
        next(read_columns(dataset, *folders), None)
    announce(*(line for entry in lacking if not entry.can_fetch for line in lines_of(entry)))
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
        announce(f"{name}:", *(f"    {file}" for file in fetched))
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
