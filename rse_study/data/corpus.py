"""Training sentences: the generated corpus, text files, or a Hugging Face dataset."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt, field_validator, model_validator

from rse_study.data import builtin, hub
from rse_study.data.location import study_folders
from rse_study.data.text_files import find_file, read_lines
from rse_study.errors import InputError
from rse_study.spec import Spec, field, fingerprint_of
from rse_study.streams import Streams

MIN_SENTENCES = 2  # a contrastive loss needs one other sentence


class Builtin(Spec):
    """Sentences of the project's own seeded grammar: needs no file and no network."""

    kind: Literal["builtin"] = "builtin"
    """the built-in grammar; a study may leave it out"""
    seed: NonNegativeInt = 0
    """seed of the grammar, no part of a cell's seed"""
    num_sentences: int = field(8000, ge=2, le=100_000)
    """distinct sentences drawn"""


class TextFiles(Spec):
    """One sentence a line, plain or gzip.

    A relative path is looked for beside the study's file, in the working folder and in the data folder.
    """

    kind: Literal["text"] = "text"
    """text files; a study may leave it out"""
    paths: tuple[Annotated[str, Field(min_length=1)], ...] = field(min_length=1)
    """the files, read in this order"""


CorpusSource = Annotated[Builtin | TextFiles | hub.Dataset, Field(discriminator="kind")]


class Corpus(Spec):
    """Where the training sentences come from.

    `builtin`, a path, a list of paths, or `{dataset: NAME, ...}`. Blank lines are dropped, and so is every repetition
    of an earlier sentence.
    """

    source: CorpusSource = Builtin()
    """`builtin`, a path, a list of paths, or a dataset"""
    limit: NonNegativeInt = 0
    """keep the first so many distinct sentences; 0 keeps all"""
    draw: NonNegativeInt | None = field(None, neutral=None)
    """seed by which that many are drawn from all, and kept in their order; null: the first are kept"""

    @model_validator(mode="after")
    def _draw_some(self) -> "Corpus":
        if self.draw is not None and not self.limit:
            raise ValueError("draw needs a limit: the number of sentences that are drawn")
        return self

    @field_validator("source", mode="before")
    @classmethod
    def _expand(cls, given: Any) -> Any:
        if given == "builtin":
            return {"kind": "builtin"}
        if isinstance(given, str):
            return {"kind": "text", "paths": [given]}
        if isinstance(given, list | tuple):
            return {"kind": "text", "paths": given}
        if isinstance(given, dict) and "kind" not in given:
            keys = {"dataset": "hub", "paths": "text"}
            return {"kind": next((kind for key, kind in keys.items() if key in given), "builtin"), **given}
        return given


@dataclass(frozen=True)
class Sentences:
    """The sentences of a corpus, and the number dropped."""

    sentences: list[str]
    num_blank: int
    num_duplicates: int

    @property
    def fingerprint(self) -> str:
        return fingerprint_of(self.sentences)

    def __str__(self) -> str:
        return (
            f"{len(self.sentences):,} sentences ({self.num_duplicates:,} duplicates and "
            f"{self.num_blank:,} blank lines dropped)"
        )


def read_sentences(corpus: Corpus, data_dir: Path) -> list[str]:
    """Return the distinct sentences of a corpus, in order."""
    return read_corpus(corpus, data_dir).sentences


def read_corpus(corpus: Corpus, data_dir: Path, beside: Path = Path()) -> Sentences:
    """Read a corpus' distinct sentences; relative paths also start from `beside`."""
    limit = corpus.limit if corpus.draw is None else 0
    read = _distinct(_lines(corpus.source, study_folders(beside, data_dir)), limit)
    if corpus.draw is not None and corpus.limit < len(read.sentences):
        order = Streams(corpus.draw).numpy("order").permutation(len(read.sentences))
        read = replace(read, sentences=[read.sentences[i] for i in sorted(order[: corpus.limit])])
    if len(read.sentences) < MIN_SENTENCES:
        raise InputError(
            f"holds {len(read.sentences)} distinct sentence(s)",
            where=_name(corpus),
            rule=f"a corpus needs at least {MIN_SENTENCES} distinct non-blank sentences",
            remedy="Use a larger corpus (one sentence a line)",
        )
    return read


def _lines(source: Builtin | TextFiles | hub.Dataset, folders: tuple[Path, ...]) -> Iterable[str]:
    if isinstance(source, Builtin):
        return builtin.corpus(source.seed, source.num_sentences)
    if isinstance(source, TextFiles):
        files = [find_file(path, *folders) for path in source.paths]  # find all before reading any
        return (line for path in files for line in read_lines(path))
    return hub.read_column(source, *folders)


def _distinct(lines: Iterable[str], limit: int) -> Sentences:
    kept: dict[str, None] = {}
    num_blank = num_duplicates = 0
    for line in _stripped(lines):
        if not line:
            num_blank += 1
        elif line in kept:
            num_duplicates += 1
        else:
            kept[line] = None
            if len(kept) == limit:
                break
    return Sentences(list(kept), num_blank, num_duplicates)


def _stripped(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield line.strip()


def _name(corpus: Corpus) -> str:
    source = corpus.source
    if isinstance(source, Builtin):
        return "builtin corpus"
    return ", ".join(source.paths) if isinstance(source, TextFiles) else f"dataset {source.dataset}"
