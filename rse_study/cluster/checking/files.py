"""Checks that a study names no files that a job would look for in vain."""

from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from rse_study.data.corpus import TextFiles
from rse_study.data.hub import Dataset
from rse_study.data.text_files import places_of
from rse_study.errors import InputError
from rse_study.named_class import is_class_path
from rse_study.study.checking.data_check import models_of_study, trials_that_differ
from rse_study.study.checking.validation import CheckedStudy

SHARED = "Give its absolute path on storage that all nodes share"


def check_files(checked: CheckedStudy) -> Iterator[InputError]:
    """Yield files and classes of the study's or the working folder: a job has neither."""
    folders = checked.folder.absolute(), Path.cwd()
    rule = "lies beside the study or in the working folder, and a job has neither"
    places: dict[str, str] = {}
    for name, at in _names(checked):
        places.setdefault(name, at)
    for name, at in places.items():
        is_relative = name.startswith(("./", "../")) or any(
            place.exists() for place in places_of(name, *folders)
        )
        if is_relative and not Path(name).expanduser().is_absolute():
            remedy = f"{SHARED}{', or a name on the hub' if at.endswith(('name', 'generator')) else ''}"
            yield InputError(f"{at} = {name!r}", where=checked.where, rule=rule, remedy=remedy)
    for at, text in _texts(checked.study.resolved(), ""):
        module = text.partition(":")[0].replace(".", "/")
        is_class = is_class_path(text.partition("/")[0])
        is_own = is_class and not PathFinder.find_spec(module.partition("/")[0])  # else it is installed here
        if is_own and any((one / f"{module}.py").is_file() or (one / module).is_dir() for one in folders):
            remedy = "Install its package on the nodes"
            yield InputError(f"{at} = {text!r}", where=checked.where, rule=rule, remedy=remedy)


def _names(checked: CheckedStudy) -> Iterator[tuple[str, str]]:
    """Yield the names of models, corpora and pairs that may be paths, and where each stands."""
    yield from ((name, at) for (name, _), at in models_of_study(checked).items())
    for at, trial in trials_that_differ(checked):
        source = trial.corpus.source
        if isinstance(source, TextFiles):
            yield from ((path, f"{at}corpus.source") for path in source.paths)
        elif isinstance(source, Dataset):
            yield source.dataset, f"{at}corpus.source.dataset"
        yield from ((name, f"{at}selection.dev") for name in trial.selection.sets if name != "builtin")


def _texts(content: Any, at: str) -> Iterator[tuple[str, str]]:
    """Yield every text of a study with its path."""
    if isinstance(content, dict | list):
        items = content.items() if isinstance(content, dict) else enumerate(content)
        for key, value in items:
            yield from _texts(value, f"{at}.{key}" if at else str(key))
    elif isinstance(content, str):
        yield at, content
