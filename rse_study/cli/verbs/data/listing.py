"""The bodies of `data list` and `data verify`."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from rse_study.cli.arguments.study import study_file
from rse_study.cli.terminal.activity_bars import ActivityBars
from rse_study.cli.terminal.errors import BAD_INPUT
from rse_study.cli.terminal.next_step import command, suggest, with_overrides
from rse_study.cli.terminal.screen import announce, stderr
from rse_study.data.catalogue import CatalogueEntry, list_sets, verify
from rse_study.data.location import data_dir, study_folders
from rse_study.data.text_files import find_file
from rse_study.errors import InputError

MOST_NAMED = 3  # of the files that a set lacks


def show_sets(data: Path | None) -> None:
    """Print every data set, its licence, and which of its files are here."""
    folder = data or data_dir()
    announce(f"data folder: {folder}")
    entries = list_sets(folder)
    for line in (line for entry in entries for line in lines_of(entry)):
        announce(line)
    absent = [entry.name for entry in entries if entry.can_fetch and entry.missing]
    suggest(command("data", "fetch", absent[0]) if absent else command("data", "verify"))


def show_needs(study: str, overrides: Sequence[str], data: Path | None) -> None:
    """Print all that a study reads, where each lies or goes, and whether it is here."""
    # These import the whole configuration, which `data list` alone does without.
    from rse_study.data.hub_models import check_models, has_weights
    from rse_study.study.checking.needs import needs_of
    from rse_study.study.checking.validation import read_study

    folder = data or data_dir()
    checked = read_study(study_file(study), overrides)
    needs = needs_of(checked)
    announce(f"data folder: {folder}")
    entries = list_sets(folder, needs.sets)
    for line in (line for entry in entries for line in lines_of(entry, stand_in_for(entry, folder))):
        announce(line)
    for path in needs.texts:
        announce(f"corpus {path}: {_whereabouts(path, study_folders(checked.folder, folder))}")
    for dataset in needs.datasets:
        announce(f"corpus {dataset.dataset}: a folder in the hub's layout, or a name on the hub")
    folders = study_folders(checked.folder, folder)
    problems = check_models((model for model in needs.models if not has_weights(model, *folders)), *folders)
    for model in needs.models:
        otherwise = str(problems.get(model, "")) or "on the hub, can be fetched"
        announce(f"model {model[0]}: {'here' if has_weights(model, *folders) else otherwise}")
    words = (study, *with_overrides(overrides))
    suggest(command("data", "fetch", "--for", *words), command("validate", *words))


def lines_of(entry: CatalogueEntry, stand_in: str = "") -> Iterator[str]:
    """Describe a set: what it is, what of it is here, its place and licence."""
    here = f"{entry.num_present} of {entry.num_files} files here" if entry.missing else "here"
    if stand_in:
        here = f"{stand_in} is read in its place"
    fetched = ", can be fetched" if entry.can_fetch and entry.missing and not stand_in else ""
    yield f"{entry.name}: {entry.data_set.what} [{here}{fetched}]"
    yield f"    {entry.data_set.common_path}; {entry.data_set.licence}; {entry.data_set.source}"
    if entry.missing and not entry.can_fetch and not stand_in:
        more = ", ..." if len(entry.missing) > MOST_NAMED else ""
        yield f"    to be placed by hand: {', '.join(entry.missing[:MOST_NAMED])}{more}"
        yield f"    and then checked: {command('data', 'verify', entry.name)}"


def stand_in_for(entry: CatalogueEntry, folder: Path) -> str:
    """Return the set that is here as a whole and is read in place of one that is not."""
    from rse_study.downstream.needed_sets import STAND_INS

    other = STAND_INS.get(entry.name, "") if entry.missing else ""
    return other if other and not list_sets(folder, [other])[0].missing else ""


def _whereabouts(path: str, folders: tuple[Path, ...]) -> str:
    try:
        return f"here, {find_file(path, *folders)}"
    except InputError as problem:
        return f"{problem.what}: {problem.rule or problem.where}"


def verify_sets(names: list[str], data: Path | None) -> int | None:
    """Print how each file compares with its checksum; exit code 2 where one differs."""
    with ActivityBars(stderr()) as bars:
        files = verify(names, data or data_dir(), partial(bars.advanced, "files read"))
    for file in files:
        announce(f"{file.status:>10}  {file.name}  {file.path}")
    if any(file.status == "different" for file in files):
        suggest("move the files that differ away, then " + command("data", "fetch", "NAME"))
    return BAD_INPUT if any(file.status == "different" for file in files) else None
