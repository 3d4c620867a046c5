"""Labelled sets on files: the table in labelled_sets.yaml, and SQuAD."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from rse_study.data.labelled import Labelled, Text
from rse_study.data.text_files import find_set_file, read_lines, read_whole
from rse_study.errors import InputError, first_line
from rse_study.registry import Registry
from rse_study.spec import Spec, fingerprint_of
from rse_study.tensors import Int
from rse_study.yaml12 import read_yaml

Example = tuple[Text, int | None]  # None: no label
TRANSFER_TASKS = ("MR", "CR", "SUBJ", "MPQA", "SST2", "TREC", "MRPC")
"""in the order of the papers' tables"""
ANLI_ROUNDS = ("ANLI-R1", "ANLI-R2", "ANLI-R3")
REVIEWS = ("IMDB", "YELP")
LabelledRow = tuple[str, object, list[object]]
"""(file:line, label, sentences)"""

_REMEDY = "Correct it, or fetch the file again"


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
            raise malformed(f"{part!r:.80}", where, "a sentence must be text, not empty")
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
            label, *texts = values_of(line, given.keys, where)
            yield where, label, texts


_FORMS: dict[str, Callable[[Path, LabelledSet, int], Iterator[LabelledRow]]] = {
    "by_class": _by_class,
    "label_last": _label_last,
    "label_first": _label_first,
    "columns": _columns,
    "objects": _objects,
}


def values_of(line: str, wanted: Sequence[str], where: str) -> list[Any]:
    """Return the values of these keys of a JSON object; InputError if it lacks one."""
    try:
        found = json.loads(line)
        if "\\u" in line:  # may spell half a character
            json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:  # ValueError also for integers of thousands of digits
        raise malformed(f"is no JSON ({first_line(error)})", where, "one JSON object a line") from None
    if not isinstance(found, dict):
        raise malformed(f"holds {found!r}"[:80], where, "one JSON object a line")
    missing = [key for key in wanted if key not in found]
    if missing:
        raise malformed(f"no {missing[0]!r}", where, f"an object has {', '.join(wanted)}")
    return [found[key] for key in wanted]


SQUAD_FILES: Registry[str] = Registry(
    "split of SQuAD", {split: f"squad/{split}-v1.1.json" for split in ("train", "dev")}
)
_NEAR = 2  # characters by which a stored position may be wrong


@dataclass(frozen=True, eq=False)
class Questions:
    """One split of a reading comprehension task."""

    name: str
    split: str
    texts: list[Text]
    """(question, context)"""
    answers: list[tuple[str, ...]]
    """what each question's annotators marked; the first one trains"""
    starts: Int[np.ndarray, " n"]
    """the context's character at which the first answer begins"""

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, places: Int[np.ndarray, " m"]) -> "Questions":
        """Select questions by index, in this order."""
        texts, answers = ([side[place] for place in places] for side in (self.texts, self.answers))
        return Questions(self.name, self.split, texts, answers, self.starts[places])

    @property
    def fingerprint(self) -> str:
        return fingerprint_of([self.name, self.split, self.texts, self.answers, self.starts.tolist()])


class _Answer(BaseModel):
    text: str = Field(min_length=1)
    answer_start: int


class _Question(BaseModel):
    question: str = Field(min_length=1)
    answers: list[_Answer] = Field(min_length=1)  # SQuAD 2.0 has questions without one


class _Paragraph(BaseModel):
    context: str = Field(min_length=1)
    qas: list[_Question]


class _Article(BaseModel):
    paragraphs: list[_Paragraph]


class _Squad(BaseModel):
    data: list[_Article] = Field(min_length=1)


def read_squad(split: str, data_dir: Path) -> Questions:
    """Read a split of SQuAD 1.1 (Rajpurkar et al. 2016), whose files are as published.

    data: [{paragraphs: [{context, qas: [{question, answers: [{text, answer_start}]}]}]}]. Raises InputError if it is
    malformed, or an answer is elsewhere.
    """
    path = find_set_file(SQUAD_FILES.get(split), data_dir)
    try:
        articles = _Squad.model_validate_json(read_whole(path)).data
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, (path, *first["loc"])))
        raise malformed(first["msg"], where, "the layout is SQuAD 1.1's") from None
    paragraphs = [paragraph for article in articles for paragraph in article.paragraphs]
    asked = [(paragraph.context, one) for paragraph in paragraphs for one in paragraph.qas]
    texts: list[Text] = [(one.question.strip(), context) for context, one in asked]
    answers = [tuple(answer.text for answer in one.answers) for _, one in asked]
    starts = np.array([_start(context, one, path) for context, one in asked], np.int64)
    return Questions("SQuAD", split, texts, answers, starts)


def _start(context: str, one: _Question, path: Path) -> int:
    given, answer = one.answers[0].answer_start, one.answers[0].text
    near = [at for at in range(max(0, given - _NEAR), given + _NEAR + 1) if context.startswith(answer, at)]
    if not near:
        what, where = f"the answer {answer!r} is not there", f"{path}, question {one.question!r}"
        raise malformed(what, where, f"its context must have it at character {given}")
    return min(near, key=lambda at: abs(at - given))
