"""Evaluations on files of a user's own, as a study writes them."""

import re
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Discriminator, Tag, WithJsonSchema, model_validator

from rse_study.data.own_tables import (
    ENDINGS,
    IS_TABLE,
    LABELLED_TEXT,
    PAIR,
    ending_of,
    read_labelled_texts,
    read_pairs,
)
from rse_study.data.text_files import find_file
from rse_study.evaluation.evaluations import FrozenEvaluation
from rse_study.spec import Spec

NAME = re.compile(r"\w[\w.-]*( \w[\w.-]*)*")
LONGEST = 64  # characters of a name


def _is_table(path: str) -> str:
    if ending_of(path) not in ENDINGS:
        raise ValueError(f"{path!r:.80} must end in {', '.join(ENDINGS)}. Save it as one of them")
    return path


TablePath = Annotated[str, AfterValidator(_is_table), WithJsonSchema({"type": "string", "pattern": IS_TABLE})]


class OwnFile(Spec):
    """The base class of evaluations on a file, which is looked for as a corpus is."""

    key: ClassVar[str]
    """the field that holds its path"""
    name: str = ""
    """under which its scores are filed, before the slash; empty: that of the file, without its ending"""
    columns: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _can_be_filed(self) -> "OwnFile":
        if not NAME.fullmatch(self.title) or len(self.title) > LONGEST:
            rule = f"its scores cannot be filed under {self.title!r:.80}"
            letters = f"letters, digits and . _ - in words, {LONGEST} characters at most"
            raise ValueError(f"{rule}. Write `name: my_{self.key}`: {letters}")
        if len(set(self.columns)) < len(self.columns):
            raise ValueError("columns names one twice. Name different ones")
        return self

    @property
    def path(self) -> str:
        """The file, as the study names it."""
        return str(getattr(self, self.key))

    @property
    def title(self) -> str:
        """The name before the slash."""
        return self.name or re.sub(IS_TABLE, "", Path(self.path).name, flags=re.IGNORECASE)

    @property
    def evaluation(self) -> str:
        """The evaluation's name, title/test or title/preset."""
        return f"{self.title}/{getattr(self, 'preset', 'test')}"


class OwnPairs(OwnFile):
    """Pairs of sentences with a score, which are measured as the STS sets are."""

    key: ClassVar[str] = "pairs"
    pairs: TablePath
    """CSV, TSV, JSON Lines or Parquet of two sentences and a score on any scale"""
    columns: tuple[str, str, str] = PAIR
    """names of both sentences and the score"""

    def read(self, *folders: Path) -> FrozenEvaluation:
        """Read the pairs from the first folder that has the file."""
        from rse_study.evaluation.sts import Similarity  # which imports scipy

        return Similarity(read_pairs(find_file(self.pairs, *folders), self.title, "test", self.columns))


class OwnLabelled(OwnFile):
    """Texts with a label, which a probe tells apart as it does in the transfer tasks."""

    key: ClassVar[str] = "labelled"
    labelled: TablePath
    """CSV, TSV, JSON Lines or Parquet of a text and a label"""
    columns: tuple[str, str] = LABELLED_TEXT
    """names of text and label"""
    preset: Literal["fast", "full"] = "full"
    """nested folds, 5 or 10: a label needs 7 or 12 texts"""

    def read(self, *folders: Path) -> FrozenEvaluation:
        """Read the texts from the first folder that has the file."""
        from rse_study.evaluation.transfer import PRESETS, Transfer, check_classes

        task = (read_labelled_texts(find_file(self.labelled, *folders), self.title, self.columns),)
        check_classes(task, PRESETS.get(self.preset))
        return Transfer(task, self.preset)


def _form_of(given: Any) -> str | None:
    forms = {form.key: form.__name__ for form in (OwnPairs, OwnLabelled)}
    if isinstance(given, dict):
        return next((form for key, form in forms.items() if key in given), None)
    return type(given).__name__ if isinstance(given, OwnFile) else "name"


AskedEvaluation = Annotated[
    Annotated[str, Tag("name")]
    | Annotated[OwnPairs, Tag("OwnPairs")]
    | Annotated[OwnLabelled, Tag("OwnLabelled")],
    Discriminator(
        _form_of,
        custom_error_type="own_evaluation",
        custom_error_message="must be the name of an evaluation, {pairs: FILE} or {labelled: FILE}",
    ),
]
