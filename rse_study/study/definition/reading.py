"""Configurations read from YAML: `extends`, overrides, all problems at once."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from rse_study.data import data_dir, study_folders
from rse_study.data.text_files import looked_for_in, places_of
from rse_study.errors import InputError, InputErrors, MissingFile
from rse_study.spec import Spec
from rse_study.study.definition.paths import AXES, overlay, put, resolve, take_away
from rse_study.study.definition.problems import problems_of
from rse_study.study.definition.shipped import shipped_clusters, shipped_studies
from rse_study.yaml12 import parse_yaml, read_yaml

T = TypeVar("T", bound=Spec)
NO_FORMER_KEYS: Mapping[str, str] = {}
MAX_EXTENDED = 20
AXIS_KEYS = ("log", "float", "int", "choice", "variants", "into", "when")
HEADS = (*AXES, ("grid", "rows"))  # names below these may have dots
KINDS = {
    "study": ({"base", "grid", "search", "question"}, "run {}"),
    "cluster": ({"head", "workers"}, "cluster validate {} STUDY"),
    "trial": ({"method", "encoder", "corpus", "optimizer", "budget"}, "train {}"),
}
"""top-level fields that only one kind of file has, and the command that takes it"""


def read_spec(cls: type[T], path: Path, overrides: Sequence[str] = ()) -> T:
    """Read a `cls` from YAML, with `path=value` overrides; raises InputErrors."""
    content = read_extended(path)
    require_kind(content, cls.__name__.lower(), where=str(path))
    if overrides:
        apply_overrides(content, _in_full(build(cls, content, where=str(path)), overrides))
    return build(cls, content, where=str(path))


def require_kind(content: dict[str, Any], kind: str, *, where: str) -> None:
    """Raise InputError for the content of a file of another kind."""
    found = next((name for name, (telling, _) in KINDS.items() if content.keys() & telling), kind)
    if found != kind:
        rule = f"a {kind} is expected here, and its fields are those of a {found}"
        remedy = f"Give it to: rse-study {KINDS[found][1].format(where)}"
        raise InputError(f"is a {found}", where=where, rule=rule, remedy=remedy)


def build(cls: type[T], content: dict[str, Any], *, where: str) -> T:
    """Validate a mapping as a `cls`; raise InputErrors that name `where`."""
    try:
        return cls.model_validate(content)
    except ValidationError as error:
        raise InputErrors(problems_of(error, cls, where=where)) from None
    except InputError as error:
        raise InputError(
            error.what, where=error.where or where, rule=error.rule, remedy=error.remedy
        ) from None


def read_extended(path: Path, *, former: Mapping[str, str] = NO_FORMER_KEYS) -> dict[str, Any]:
    """Return a file's mapping, laid over the files it `extends`, in their order.

    Paths are looked for beside the file that names them, in the working folder and in the data folder; shipped studies
    and clusters also go by name.
    """
    return _read_over(path, (), former, {})


def _read_over(
    path: Path, seen: tuple[Path, ...], former: Mapping[str, str], known: dict[Path, dict[str, Any]]
) -> dict[str, Any]:
    """Read a file over those it extends; `known` are the files read so far, each of which is read once."""
    content = with_todays_keys(read_yaml(path), former, where=str(path))
    named = content.pop("extends", None) or []
    names = named if isinstance(named, list) else [named]
    if not all(isinstance(name, str) for name in names):
        rule = "must be the path of a file, or a list of them"
        remedy = "For example: `extends: base.yaml`"
        raise InputError(f"extends = {named!r:.200}", where=str(path), rule=rule, remedy=remedy)
    below: dict[str, Any] = {}
    for name in names:
        below = overlay(below, _read_below(path, name, seen, former, known))
    return overlay(below, content)


def _read_below(
    path: Path,
    name: str,
    seen: tuple[Path, ...],
    former: Mapping[str, str],
    known: dict[Path, dict[str, Any]],
) -> dict[str, Any]:
    what = f"extends = {name!r:.200}"
    missing = f"no such file: {looked_for_in(*study_folders(path.parent, data_dir()))}"
    remedy = "Check the path; a shipped study is given by its name"
    try:
        target = _named(path, name).resolve()
    except (OSError, ValueError, RuntimeError):  # too long, a NUL, links in a circle
        raise InputError(what, where=str(path), rule=missing, remedy=remedy) from None
    if target in seen:
        rule, remedy = "the files extend each other in a circle", "Remove one of the `extends`"
        raise InputError(what, where=str(path), rule=rule, remedy=remedy)
    if len(seen) == MAX_EXTENDED:
        rule = f"at most {MAX_EXTENDED} files extend each other in a row"
        raise InputError(what, where=str(path), rule=rule, remedy="Join some of them")
    try:
        if target not in known:
            known[target] = _read_over(target, (*seen, target), former, known)
    except MissingFile as error:
        if error.where != str(target):
            raise  # the extended file exists; one that it extends does not
        raise InputError(what, where=str(path), rule=missing, remedy=remedy) from None
    return known[target]


def _named(path: Path, name: str) -> Path:
    """Return the file meant by a path, or by the name of a shipped study or cluster."""
    beside, *others = places_of(name, *study_folders(path.parent, data_dir()))
    found = next((place for place in (beside, *others) if place.is_file()), None)
    if found or beside.suffix:
        return found or beside
    shipped = {one.stem.replace("-", "_"): one for one in (*shipped_studies(), *shipped_clusters())}
    return shipped.get(name.replace("-", "_"), beside)


def with_todays_keys(
    content: dict[str, Any], former: Mapping[str, str], *, where: str = ""
) -> dict[str, Any]:
    """Rename former keys of a mapping; InputError if a key has both names."""
    for old, new in former.items():
        if old in content and new in content:
            rule, remedy = f"is the former name of {new}, and both are given", f"Keep {new}"
            raise InputError(old, where=where, rule=rule, remedy=remedy)
    return {former.get(key, key): value for key, value in content.items()}


def apply_overrides(
    content: dict[str, Any], overrides: Sequence[str], *, former: Mapping[str, str] = NO_FORMER_KEYS
) -> None:
    """Write each `path=value` (YAML) into the mapping in place; null removes a path."""
    for override in overrides:
        path, equals, text = override.partition("=")
        if not equals or not path.strip():
            remedy = "For example: -o num_trials=4"
            raise InputError(override, where="-o", rule="an override is path=value", remedy=remedy)
        value, keys = parse_yaml(f"value: {text}", where=f"-o {path}")["value"], _keys(path.strip())
        keys[0] = former.get(keys[0], keys[0])
        if value is not None or not take_away(content, keys):
            put(content, keys, value)


def _in_full(spec: Spec, overrides: Sequence[str]) -> list[str]:
    """Expand unique suffixes in overrides to full paths, as in `-o pgd.num_steps=3`."""
    found = []
    for override in overrides:
        path, equals, text = override.partition("=")
        is_full = path.split(".")[0].strip() in type(spec).model_fields
        full = path if is_full or not equals else resolve(spec, path.strip(), where="-o")
        found.append(f"{full.removesuffix('_')}{equals}{text}")  # optimizer.class_ is written class
    return found


def _keys(path: str) -> list[str]:
    """Split an override's path into keys; a dotted name of an axis or of a row's field is one key."""
    names = path.split(".")
    depth = next((len(head) for head in HEADS if tuple(names[: len(head)]) == head), len(names))
    depth += names[:2] == ["grid", "rows"]  # the row's own name
    if len(names) <= depth:
        return names
    inner = 1 if depth < 3 and len(names) > depth + 1 and names[-1] in AXIS_KEYS else 0
    return [*names[:depth], ".".join(names[depth : len(names) - inner]), *names[len(names) - inner :]]
