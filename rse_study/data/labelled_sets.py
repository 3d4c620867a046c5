"""Labelled sets on files: the table in labelled_sets.yaml, read by one reader."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rse_study.data.labelled import Labelled, Text
from rse_study.data.text_files import find_set_file, read_lines
from rse_study.errors import InputError
from rse_study.registry import Registry
from rse_study.spec import Spec
from rse_study.yaml12 import read_yaml

Example = tuple[Text, int | None]  # None: no label
TRANSFER_TASKS = ("MR", "CR", "SUBJ", "MPQA", "SST2", "TREC", "MRPC")
"""in the order of the papers' tables"""
ANLI_ROUNDS = ("ANLI-R1", "ANLI-R2", "ANLI-R3")
REVIEWS = ("IMDB", "YELP")
LabelledRow = tuple[str, object, list[object]]
"""(file:line, label, sentences)"""

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


class LabelledSet(Spec):
    """A set: where its splits lie, and how their lines are read."""

    files: dict[str, tuple[str, ...]]
    """split -> files below the data folder"""
    classes: tuple[str, ...]
    labels: tuple[str, ...] = ()
    """what the files call the classes; empty: by their names"""
    unlabelled: str = ""
    """label of lines that are left out and counted"""
    form: Literal["by_class", "label_last", "label_first", "columns", "objects"]
    keys: tuple[str, ...] = ()
    """columns or JSON keys, the label's first"""
    has_header: bool = False
    may_be_empty: bool = False
    """whether a sentence may be"""

    @property
    def place_of_label(self) -> dict[str, int | None]:
        """Map each label to the index of its class."""
        labels = {label: place for place, label in enumerate(self.labels or self.classes)}
        return labels | ({self.unlabelled: None} if self.unlabelled else {})


@lru_cache(maxsize=1)
def labelled_sets() -> Registry[LabelledSet]:
    """Read the table of all sets."""
    table = read_yaml(Path(__file__).with_suffix(".yaml"))
    return Registry("labelled set", {name: LabelledSet(**entry) for name, entry in table.items()})


def read_labelled(name: str, split: str, data_dir: Path) -> Labelled:
    """Read one split of a set, in the order of its files."""
    given = labelled_sets().get(name)
    paths = [find_set_file(file, data_dir) for file in files_of(name, split)]
    known = (
        given.place_of_label
        if given.form != "by_class"
        else {str(place): place for place in range(len(paths))}
    )
    examples = (
        (text_of(*texts, where=where, may_be_empty=given.may_be_empty), label_of(label, known, where))
        for place, path in enumerate(paths)
        for where, label, texts in _FORMS[given.form](path, given, place)
    )
    return labelled(
        name, split, examples, given.classes, str(paths[0] if len(paths) == 1 else paths[0].parent)
    )


def splits_of(name: str) -> tuple[str, ...]:
    """Return a set's splits: `all` if there are no others."""
    return tuple(labelled_sets().get(name).files)


def files_of(name: str, split: str) -> tuple[str, ...]:
    """Return a split's files, below the data folder."""
    return Registry(f"split of {name}", labelled_sets().get(name).files).get(split)


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(read_lines(path), start=1):
        yield f"{path}:{number}", line


def _by_class(path: Path, given: LabelledSet, place: int) -> Iterator[LabelledRow]:
    for where, line in _lines(path):
        yield where, place, [line]


def _label_last(path: Path, given: LabelledSet, place: int) -> Iterator[LabelledRow]:
    for where, line in _lines(path):
        text, tab, label = line.rpartition("\t")
        if not tab:
            raise malformed("no tab", where, "a line is sentence, tab, label")
        yield where, label.strip(), [text]


def _label_first(path: Path, given: LabelledSet, place: int) -> Iterator[LabelledRow]:
    for where, line in _lines(path):
        label, blank, text = line.partition(" ")
        if not blank:
            raise malformed("no text", where, "a line is label, blank, text")
        yield where, label if given.labels else label.partition(":")[0], [text]


def _columns(path: Path, given: LabelledSet, place: int) -> Iterator[LabelledRow]:
    for number, (where, line) in enumerate(_lines(path), start=1):
        found = line.split("\t")
        if len(found) != len(given.keys):
            raise malformed(f"{len(found)} column(s)", where, f"{', '.join(given.keys)}, tab separated")
        if number > given.has_header:
            yield where, found[0], [*found[-2:]]


def _objects(path: Path, given: LabelledSet, place: int) -> Iterator[LabelledRow]:
    """Yield the values of each non-blank line of JSON Lines."""
    for where, line in _lines(path):
        if line.strip():
            label, *texts = _values(line, given.keys, where)
            yield where, label, texts


_FORMS: dict[str, Callable[[Path, LabelledSet, int], Iterator[LabelledRow]]] = {
    "by_class": _by_class,
    "label_last": _label_last,
    "label_first": _label_first,
    "columns": _columns,
    "objects": _objects,
}


def _values(line: str, wanted: tuple[str, ...], where: str) -> list[Any]:
    try:
        found = json.loads(line)
    except json.JSONDecodeError as error:
        raise malformed(f"is no JSON ({error.msg})", where, "one JSON object a line") from None
    if not isinstance(found, dict):
        raise malformed(f"holds {found!r}"[:80], where, "one JSON object a line")
    missing = [key for key in wanted if key not in found]
    if missing:
        raise malformed(f"no {missing[0]!r}", where, f"an object has {', '.join(wanted)}")
    return [found[key] for key in wanted]
