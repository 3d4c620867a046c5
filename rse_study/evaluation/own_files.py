"""Evaluations on files of a user's own, as a study writes them."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Tag, model_validator

from rse_study.data.own_tables import ENDING, PAIR, read_labelled_texts, read_pairs
from rse_study.data.text_files import find_file
from rse_study.evaluation.evaluations import FrozenEvaluation
from rse_study.spec import Spec

NAME = re.compile(r"(?=.{1,64}$)\w[\w.-]*( \w[\w.-]*)*")


class OwnFile(Spec):
    """The base class of evaluations on a file, which is looked for as a corpus is."""

    name: str = ""
    """under which its scores are filed, before the slash; empty: that of the file, without its ending"""

    @model_validator(mode="after")
    def _can_be_filed(self) -> "OwnFile":
        if not re.search(ENDING, self.path):
            raise ValueError(f"{self.path!r:.80} is no .csv, .tsv, .jsonl or .parquet file. Save it as one")
        if not NAME.fullmatch(self.title):
            raise ValueError(f"{self.title!r:.80} cannot name scores. Give it a `name` of letters and digits")
        return self

    @property
    def path(self) -> str:
        """The file, as the study names it."""
        return str(getattr(self, "pairs", "") or getattr(self, "labelled", ""))

    @property
    def title(self) -> str:
        """The name before the slash."""
        return self.name or re.sub(ENDING, "", Path(self.path).name)

    @property
    def evaluation(self) -> str:
        """The name under which its scores are filed, title/test or title/preset."""
        return f"{self.title}/{getattr(self, 'preset', 'test')}"


class OwnPairs(OwnFile):
    """Pairs of sentences with a score, which are measured as the STS sets are."""

    pairs: str
    """a file of two sentences and a score on any scale: CSV, TSV, JSON Lines or Parquet"""
    columns: tuple[str, str, str] = PAIR
    """names of both sentences and the score"""

    def read(self, *folders: Path) -> FrozenEvaluation:
        """Read the pairs from the first folder that has the file."""
        from rse_study.evaluation.sts import Similarity

        return Similarity(read_pairs(find_file(self.pairs, *folders), self.title, "test", self.columns))


class OwnLabelled(OwnFile):
    """Texts with a label, which a probe tells apart as it does in the transfer tasks."""

    labelled: str
    """a file of texts and labels: CSV, TSV, JSON Lines or Parquet"""
    columns: tuple[str, str] = ("text", "label")
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
    if isinstance(given, dict):
        return "OwnPairs" if "pairs" in given else "OwnLabelled" if "labelled" in given else None
    return type(given).__name__ if isinstance(given, OwnFile) else "name"


AskedEvaluation = Annotated[
    Annotated[str, Tag("name")]
    | Annotated[OwnPairs, Tag("OwnPairs")]
    | Annotated[OwnLabelled, Tag("OwnLabelled")],
    Discriminator(_form_of, "own_evaluation", "must be a name, {pairs: FILE} or {labelled: FILE}"),
]
