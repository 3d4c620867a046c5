"""Questions that a span of a text answers: SQuAD 1.1.

Rajpurkar et al. (2016). Layout below the data folder, as published, plain or gzip:

    squad/{train,dev}-v1.1.json    data: [{paragraphs: [{context, qas: [{question, answers: [{text, answer_start}]}]}]}]
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from rse_study.data.labelled import Text
from rse_study.data.labelled_sets import malformed
from rse_study.data.text_files import find_set_file, read_whole
from rse_study.registry import Registry
from rse_study.spec import fingerprint_of
from rse_study.tensors import Int

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
    """Read a split; InputError if it is malformed or an answer is elsewhere."""
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
