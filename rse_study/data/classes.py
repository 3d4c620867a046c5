"""Shared parts of readers that turn lines of a file into a labelled set."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from rse_study.data.labelled import Labelled, Text
from rse_study.data.text_files import SET_DATA, find_file
from rse_study.errors import InputError, MissingFile

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


def label_of(found: object, known: Mapping[str, int | None], where: str) -> int | None:
    """Return the class that a label stands for; None where it stands for no label."""
    if str(found) not in known:
        raise malformed(f"label {found!r}", where, f"a label is one of {', '.join(known)}")
    return known[str(found)]


def text_of(*parts: object, where: str, may_be_empty: bool = False) -> Text:
    """Make one input of stripped sentences; InputError for what is no text."""
    for part in parts:
        if not isinstance(part, str) or not (part.strip() or may_be_empty):
            raise malformed(f"{part!r}", where, "a sentence must be text, not empty")
    return tuple(str(part).strip() for part in parts)


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
