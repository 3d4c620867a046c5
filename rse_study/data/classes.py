"""Shared parts of readers that turn lines of a file into a labelled set."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rse_study.data.labelled import Labelled, Text
from rse_study.data.text_files import SET_DATA, find_file, read_lines
from rse_study.errors import InputError, MissingFile

SENTIMENT_CLASSES = ("negative", "positive")
BINARY = {"0": 0, "1": 1}
Example = tuple[Text, int | None]  # None: no label

_REMEDY = "Fetch the file again, or correct the line"


def labelled(
    name: str, split: str, examples: Iterable[Example], classes: tuple[str, ...], where: str
) -> Labelled:
    """Make a set of the examples with a label, and count those without one."""
    texts, labels, num_unlabelled = [], [], 0
    for text, label in examples:
        if label is None:
            num_unlabelled += 1
        else:
            texts.append(text)
            labels.append(label)
    if not texts:
        what = f"holds no labelled example ({num_unlabelled} without a label)"
        raise InputError(what, where=where, remedy="Use another split, or fetch it again")
    return Labelled(name, split, texts, np.array(labels, np.int64), classes, num_unlabelled)


def label_of(found: object, known: Mapping[str, int], where: str) -> int:
    """Return the class that a label stands for."""
    label = known.get(str(found))
    if label is None:
        rule = f"a label is one of {', '.join(known)}"
        raise InputError(f"label {found!r}", where=where, rule=rule, remedy=_REMEDY)
    return label


def read_objects(path: Path, wanted: tuple[str, ...]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield (file:line, wanted values) of each non-blank line of JSON Lines."""
    for number, line in enumerate(read_lines(path), start=1):
        if line.strip():
            where = f"{path}:{number}"
            yield where, _values(line, wanted, where)


def text_of(*parts: object, where: str, may_be_empty: bool = False) -> Text:
    """Make one input of stripped sentences; InputError for what is no text."""
    for part in parts:
        if not isinstance(part, str) or not (part.strip() or may_be_empty):
            raise InputError(
                f"{part!r}", where=where, rule="a sentence must be text, not empty", remedy=_REMEDY
            )
    return tuple(str(part).strip() for part in parts)


def tabbed_sentences(path: Path) -> Iterator[Example]:
    """Yield the examples of a file whose lines are sentence, tab, 0 or 1."""
    for number, line in enumerate(read_lines(path), start=1):
        where = f"{path}:{number}"
        text, tab, label = line.rpartition("\t")
        if not tab:
            raise malformed("no tab", where, "a line is sentence, tab, label")
        yield text_of(text, where=where), label_of(label.strip(), BINARY, where)


def malformed(what: str, where: str, rule: str) -> InputError:
    """Return the error for a malformed line."""
    return InputError(what, where=where, rule=rule, remedy=_REMEDY)


def find_set_file(below: str, data_dir: Path) -> Path:
    """Find a file of the catalogue; MissingFile says the layout."""
    try:
        return find_file(below, data_dir)
    except MissingFile as error:
        rule = f"the layout is {below} (plain or .gz) in the data folder"
        raise MissingFile(error.what, where=error.where, rule=rule, remedy=SET_DATA) from None


def _values(line: str, wanted: tuple[str, ...], where: str) -> tuple[Any, ...]:
    try:
        found = json.loads(line)
    except json.JSONDecodeError as error:
        raise malformed(f"is no JSON ({error.msg})", where, "one JSON object a line") from None
    if not isinstance(found, dict):
        raise malformed(f"holds {found!r}"[:80], where, "one JSON object a line")
    missing = [key for key in wanted if key not in found]
    if missing:
        raise malformed(f"no {missing[0]!r}", where, f"an object has {', '.join(wanted)}")
    return tuple(found[key] for key in wanted)
