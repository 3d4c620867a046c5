"""The bodies of `studies`, `init`, `archive` and `unpack`: studies as files."""

import json
import math
from collections.abc import Sequence
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer

from analysis.formats import counted
from rse_study.cli import parameters
from rse_study.cli.arguments import require_file, require_folder, study_folder
from rse_study.cli.terminal.activity_bars import ActivityBars
from rse_study.cli.terminal.screen import announce, command, json_of, stderr, suggest
from rse_study.data import cache_dir
from rse_study.errors import InputError
from rse_study.results.archive import unpack_archive, write_archive
from rse_study.results.files.atomic import write_whole
from rse_study.results.files.schema import is_archive
from rse_study.results.reader import Reader
from rse_study.search.state import SearchState, describe_counts
from rse_study.study.definition.config import Study
from rse_study.study.definition.reading import build, read_extended
from rse_study.study.definition.schema import json_schema
from rse_study.study.definition.shipped import shipped_studies, shipped_trials
from rse_study.yaml12 import parse_yaml

GROUPS = {
    "search_spaces": "to start with, on generated or Wikipedia sentences",
    "mini": "the papers' tables and figures with a tiny encoder, on CPUs",
    "minilm": "the same with MiniLM (extra `minilm`), on CPUs",
    "paper": "the papers' tables and figures at their own scale, on GPUs",
    "trials": "trials, for `rse-study train`",
}
"""What is in the folders of shipped studies, in the order in which they are listed."""
Entry = dict[str, str]
"""name, group, text, size and path of a study"""


def list_studies(
    words: Annotated[
        list[str] | None,
        parameters.argument("[WORD]...", "Only those with these words in name, question, size or folder."),
    ] = None,
    as_json: parameters.AsJson = False,
    store: parameters.Store = parameters.DEFAULT_STORE,
) -> None:
    """List what has run here, then the shipped studies and trials."""
    words = words or []
    entries = [*_ran(store), *_shipped()]
    shown = [one for one in entries if all(word.lower() in " ".join(one.values()).lower() for word in words)]
    if as_json:
        print(json_of(shown))
        return
    if not shown:
        announce(f"No study has {' and '.join(map(repr, words))} in its name, question or folder.")
    for group, members in groupby(shown, key=lambda one: one["group"]):
        announce(f"{group}:")
        for one in members:
            announce(f"  {one['name']}: {one['text']}{f' ({size})' if (size := one['size']) else ''}")
    suggest(command("plan", "STUDY"), command("init", "my-study"))


def _ran(store: Path) -> list[Entry]:
    group = f"in {store}, for `rse-study status`, `report` and others"
    folders = [ledger.parent for ledger in sorted(store.glob("*/ledger.sqlite"))]
    return [_entry(folder.name, group, _counts(folder), "", folder) for folder in folders]


def _shipped() -> list[Entry]:
    studies = [(path, read_extended(path)) for path in shipped_studies()]
    trials = [(path, read_extended(path)) for path in shipped_trials()]
    return [
        *(_entry(path.stem, _group(path), one["question"], size_of(one), path) for path, one in studies),
        *(_entry(path.stem, _group(path), f"encoder {one['encoder']['name']}", _budget(one), path)
          for path, one in trials),
    ]  # fmt: skip


def _entry(name: str, group: str, text: str, size: str, path: Path) -> Entry:
    return {"name": name, "group": group, "text": text, "size": size, "path": str(path)}


def _group(path: Path) -> str:
    return f"{GROUPS[path.parent.name]} ({path.parent})"


def _budget(trial: dict[str, Any]) -> str:
    return f"{trial['budget']['amount']} {trial['budget']['unit']}"


def size_of(content: dict[str, Any]) -> str:
    """Return how large a study is, from its file."""
    num_evaluations = _num_evaluations(content.get("evaluations") or ())
    evaluations = f", {counted(num_evaluations, 'evaluation')}" if num_evaluations else ""
    return f"{_cells(content)}{evaluations}"


def _num_evaluations(written: Sequence[str]) -> int:
    """Count the evaluations a study asks for, a pattern as all that match it."""
    if not written:
        return 0
    # With it come all evaluations by name: only where a study asks for some.
    from rse_study.downstream import expand_evaluations

    return len(expand_evaluations(written))


def _cells(content: dict[str, Any]) -> str:
    grid = content.get("grid")
    if grid is None:
        return f"{content['num_trials']} trials" if "num_trials" in content else "a search"
    axes, seeds = grid.get("axes", {}), content.get("seeds", [0])
    num_rows = len(grid.get("rows", {})) + (math.prod(map(_num_values, axes.values())) if axes else 0)
    return f"{counted(num_rows, 'row')} x {counted(len(seeds), 'seed')}"


def _num_values(axis: Any) -> int:
    if isinstance(axis, dict) and "int" in axis:
        low, high = axis["int"]
        return int(high) - int(low) + 1
    return len(axis["choice"] if isinstance(axis, dict) else axis)


def _counts(study_dir: Path) -> str:
    try:
        with Reader(study_dir) as reader:
            counts = describe_counts(SearchState.read(reader).counts, reader.is_held())
            tags = ", ".join(reader.study().settings.tags)
            return f"{counts} [{tags}]" if tags else counts
    except InputError as problem:
        return str(problem)


TEMPLATES = files("rse_study.cli") / "first_study"
NAME = "my-study"  # in the templates
SCHEMA = Path("study.schema.json")


def write_first_study(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="The study's name.")] = "my-study",
    grid: Annotated[bool, typer.Option("--grid", help="Write a grid; default: a search.")] = False,
) -> None:
    """Write NAME.yaml, a commented study that runs on this machine.

    Also writes study.schema.json, with which editors check the file.
    """
    kind = "grid" if grid else "search"
    text = (TEMPLATES / f"{kind}.yaml").read_text(encoding="utf-8")
    _require_name(name, text)
    path = Path(f"{name}.yaml")
    require_folder(Path(), where="this folder:")
    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.write(text.replace(NAME, name))
    except FileExistsError:
        remedy = "Choose another name, or remove it"
        raise InputError(
            "already exists", where=str(path), rule="nothing is overwritten", remedy=remedy
        ) from None
    write_whole(SCHEMA, json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n")
    print(f"{path}, {SCHEMA}")
    suggest(command("validate", path), command("plan", path, "--probe"), command("run", path))


def _require_name(name: str, text: str) -> None:
    try:
        build(Study, {**parse_yaml(text, where="NAME"), "name": name}, where="NAME")
    except InputError:
        rule = "lower case letters, digits, - and _, at most 64, the first one a letter or a digit"
        remedy = "For example: rse-study init step-sizes"
        raise InputError(f"{name!r} is not a valid name", where="NAME", rule=rule, remedy=remedy) from None


def archive_study(
    study: parameters.RanStudyArgument,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The archive; default: STUDY.tar.xz.")
    ] = None,
    store: parameters.Store = parameters.DEFAULT_STORE,
) -> None:
    """Pack a study into one file that others can open and continue.

    Commands that take a study that has run take the file, too: report, check, notebook, replay. `unpack` makes it a
    study of the store, which `run` continues. It holds the ledger, the results and the weights of an encoder or
    generator that was trained here, but no models of cells and no texts.
    """
    from rse_study.assets.store import trained_assets

    folder = study_folder(study, store)
    path = out or Path(f"{folder.resolve().name}.tar.xz")
    require_file(path, where="--out")
    with ActivityBars(stderr()) as bars, bars.waiting("packing"):
        write_archive(folder, path, trained_assets(folder, cache_dir()))
    print(path)
    suggest(command("report", str(path)))


def unpack_study(
    archive: Annotated[Path, typer.Argument(metavar="FILE", help="What `archive` wrote: STUDY.tar.xz.")],
    store: parameters.Store = parameters.DEFAULT_STORE,
) -> None:
    """Unpack an archive into the store, and print its study's file.

    `run` continues the study in that file.
    """
    if not is_archive(str(archive)):
        remedy = "Name the file that `rse-study archive STUDY` wrote, STUDY.tar.xz"
        raise InputError("is no archive", where=str(archive), remedy=remedy)
    folder = unpack_archive(archive, store)
    print(folder / f"{folder.name}.yaml")
    suggest(command("report", str(folder)))
