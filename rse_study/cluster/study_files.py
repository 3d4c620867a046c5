"""Files beside a study that its job needs: models, corpora, pairs and classes."""

import math
import os
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from itertools import chain
from pathlib import Path, PurePath
from typing import Any

from rse_study.cluster.spec import ClusterSpec
from rse_study.data.corpus import TextFiles
from rse_study.data.hub import Dataset
from rse_study.errors import InputError
from rse_study.registry import is_class_path
from rse_study.study.checking.data_check import models_of_study, trials_that_differ
from rse_study.study.checking.validation import CheckedStudy

MIB = 2**20
MOST_BYTES = {
    "launcher": (500 * MIB, "Ray packs them into a message, which holds 512 MiB"),
    "kuberay": (8 * MIB, "they are packed into a ConfigMap, which holds 1 MiB"),
}
"""most that the files of a study may have, and why"""


def files_of_study(checked: CheckedStudy) -> dict[str, Path]:
    """Return the files that a study names below its folder, by their path there."""
    folder = checked.folder.absolute()
    places = [place for name, _ in _names(checked) if not _is_elsewhere(name) for place in _at(folder / name)]
    files = [place for place in places if place.is_file()]
    for top, _, names in chain.from_iterable(os.walk(place, followlinks=True) for place in places):
        files += [Path(top, name) for name in names if "__pycache__" not in top]
    return {path.relative_to(folder).as_posix(): path for path in files}


def check_files(spec: ClusterSpec, checked: CheckedStudy) -> Iterator[InputError]:
    """Yield files that a job would look for in vain, or that are too large to send."""
    is_here, places = spec.kind == "local", dict[str, str]()
    for name, at in _names(checked):
        places.setdefault(name, at)
    for name, at in places.items():
        path = checked.folder.absolute() / os.path.expanduser(name)
        if os.path.isabs(os.path.expanduser(name)):
            if is_here or not path.exists() or any(map(path.is_relative_to, spec.shared_folders)):
                continue
            rule = f"nodes of {spec.name} do not see it: it lies in no folder of `shared`"
            remedy = "Copy it beside the study, by a relative path; or name its folder under `shared`"
        elif _is_elsewhere(name) or (not _at(path) and _at(Path.cwd() / name)):
            rule = "lies outside the study's folder, and a job has that folder alone"
            remedy = "Copy it beside the study, or give its absolute path in a folder that all nodes see"
        else:
            continue
        yield InputError(f"{at} = {name!r}", where=checked.where, rule=rule, remedy=remedy)
    size = sum(path.stat().st_size for path in files_of_study(checked).values())
    most, rule = MOST_BYTES.get(spec.kind, (math.inf, ""))
    if size > most:
        remedy = "Put large files on storage that all nodes see, and give their absolute paths"
        what = f"the files beside the study have {size / MIB:,.0f} MiB"
        yield InputError(what, where=checked.where, rule=rule, remedy=remedy)


def _is_elsewhere(name: str) -> bool:
    parts = PurePath(name).parts
    return not parts or ".." in parts or name.startswith(("/", "~"))


def _at(path: Path) -> list[Path]:
    """Return a path, and the compressed file of its name, if they are there."""
    return [one for one in (path, path.with_name(f"{path.name}.gz")) if one.exists()]


def _names(checked: CheckedStudy) -> Iterator[tuple[str, str]]:
    """Yield the names of models, corpora, pairs and modules that may be paths, and where each stands."""
    yield from ((name, at) for (name, _), at in models_of_study(checked).items())
    for at, trial in trials_that_differ(checked):
        source = trial.corpus.source
        if isinstance(source, TextFiles):
            yield from ((path, f"{at}corpus.source") for path in source.paths)
        elif isinstance(source, Dataset):
            yield source.dataset, f"{at}corpus.source.dataset"
        yield from ((name, f"{at}selection.dev") for name in trial.selection.sets if name != "builtin")
    folders = checked.folder.resolve(), Path.cwd()
    installed = [place for place in sys.path if Path(place).resolve() not in folders]
    for at, text in _texts(checked.study.resolved(), ""):
        module, place = text.partition(":")[0].partition(".")[0], text.partition("/")[0]  # of an evaluation
        if is_class_path(place) and not PathFinder.find_spec(module, installed):
            yield module if any((folder / module).is_dir() for folder in folders) else f"{module}.py", at
            yield from ((path.name, at) for path in checked.folder.glob("*.py"))  # which it may import


def _texts(content: Any, at: str) -> Iterator[tuple[str, str]]:
    """Yield every text of a study with its path."""
    if isinstance(content, str):
        yield at, content
    elif isinstance(content, dict | list):
        for key, value in content.items() if isinstance(content, dict) else enumerate(content):
            yield from _texts(value, f"{at}.{key}" if at else str(key))
