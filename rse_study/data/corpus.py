"""Training sentences: the generated corpus, text files, or a Hugging Face dataset."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt, field_validator, model_validator

from rse_study.data import builtin, hub, study_folders
from rse_study.data.catalogue import sets_by_path
from rse_study.data.own_tables import Rewrites, read_rows
from rse_study.data.text_files import find_file, read_own_lines
from rse_study.errors import InputError, MissingFile
from rse_study.spec import Spec, field, fingerprint_of
from rse_study.streams import Streams

TABLES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".arrow")
_TYPES = (
    "docx?|odt|rtf|pdf|html?|xml|ya?ml|xlsx?|ods|feather|pkl|np[yz]|h5|db|sqlite|zip|tar|tgz|bz2|xz|zst|7z"
)
NO_TEXT = re.compile(rf"\.({_TYPES})")
READ_THROUGH = 50_000_000  # bytes that are read in half a second, whenever a study is checked
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


CorpusSource = Annotated[Builtin | TextFiles | hub.Dataset | Rewrites, Field(discriminator="kind")]


class Corpus(Spec):
    """Where the training sentences come from.

    `builtin`, a path, a list of paths, `{dataset: NAME, ...}`, or the first column of a table, `{file: NAME, ...}`.
    Blank lines are dropped, and so is every repetition of an earlier sentence.
    """

    source: CorpusSource = Builtin()
    """`builtin`, a path, a list of paths, a dataset, or a table of `views`"""
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
            keys = {"file": "views", "columns": "views", "dataset": "hub", "paths": "text"}
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


def read_corpus(corpus: Corpus, data_dir: Path, beside: Path = Path()) -> Sentences:
    """Read a corpus' distinct sentences; relative paths also start from `beside`."""
    limit = corpus.limit if corpus.draw is None else 0
    read = _distinct(_lines(corpus.source, study_folders(beside, data_dir)), limit)
    if corpus.draw is not None and corpus.limit < len(read.sentences):
        order = Streams(corpus.draw).numpy("order").permutation(len(read.sentences))
        read = replace(read, sentences=[read.sentences[i] for i in sorted(order[: corpus.limit])])
    if len(read.sentences) < MIN_SENTENCES:
        what = f"holds {len(read.sentences)} distinct sentence(s)"
        rule = f"a corpus needs at least {MIN_SENTENCES} distinct non-blank sentences"
        remedy = "Use a larger corpus (one sentence a line, LF or CRLF after each)"
        raise InputError(what, where=_name(corpus), rule=rule, remedy=remedy)
    return read


def check_corpus(corpus: Corpus, batch_size: int, data_dir: Path, beside: Path) -> None:
    """Raise InputError unless a corpus here is well-formed and holds a batch.

    Of large text files only the beginning is read, of large datasets and of those on the hub nothing.
    """
    source, folders, limit = corpus.source, study_folders(beside, data_dir), corpus.limit
    if isinstance(source, Builtin):  # distinct by construction: count without drawing
        check_batch(batch_size, min(source.num_sentences, limit or source.num_sentences))
        return
    if isinstance(source, TextFiles):
        files = [find_text(path, *folders) for path in source.paths]
    else:
        folder = hub.folder_of(source.dataset, *folders) if source.dataset else None
        files = [*folder.rglob("*")] if folder else []
    is_large = sum(file.stat().st_size for file in files if file.is_file()) > READ_THROUGH
    if (isinstance(source, hub.Table) and source.dataset) and (is_large or not files):
        return
    few = min(batch_size, limit or batch_size) if is_large else limit
    read = read_corpus(corpus.model_copy(update={"limit": few, "draw": None}), data_dir, beside)
    check_batch(batch_size, len(read.sentences))


def check_batch(batch_size: int, num_sentences: int) -> None:
    """Raise InputError if an epoch does not hold a whole batch."""
    if num_sentences < batch_size:
        what, where = f"batch_size = {batch_size}", f"corpus of {num_sentences} distinct sentences"
        rule = f"{num_sentences} sentences are fewer than a batch of {batch_size}, and an epoch holds a whole one"
        raise InputError(what, where=where, rule=rule, remedy="Use a larger corpus or a smaller batch_size")


def find_text(path: str, *folders: Path) -> Path:
    """Find a text file, plain or gzip; InputError if its ending says that it is none.

    Of a missing one that is in the catalogue, the error says how to get it.
    """
    try:
        found = find_file(path, *folders)
    except MissingFile as error:
        if path in sets_by_path():
            error.remedy = sets_by_path()[path].remedy
        raise
    ending = Path(found.name.lower().removesuffix(".gz")).suffix
    if ending in TABLES:
        put = "Unpack" if found.suffix.lower() == ".gz" else "Put"
        remedy = f"{put} it into a folder of its own, as train{ending}, and write {{dataset: FOLDER, column: NAME}}"
    elif NO_TEXT.fullmatch(ending):
        remedy = "Save it as plain text (of packed files, .gz alone is read)"
    else:
        return found
    what, rule = f"{ending} is no plain text", "a corpus is one sentence a line, or a column of a dataset"
    raise InputError(what, where=str(found), rule=rule, remedy=remedy)


def _lines(source: CorpusSource, folders: tuple[Path, ...]) -> Iterable[str]:
    if isinstance(source, Builtin):
        return builtin.corpus(source.seed, source.num_sentences)
    if isinstance(source, TextFiles):
        files = [find_text(path, *folders) for path in source.paths]  # find all before reading any
        return (line for path in files for line in read_own_lines(path))
    if isinstance(source, Rewrites):
        return (sentence for sentence, *_ in read_rows(source, *folders))
    return (value or "" for _, (value,) in hub.read_columns(source, *folders))


def _distinct(lines: Iterable[str], limit: int) -> Sentences:
    kept: dict[str, None] = {}
    num_blank = num_duplicates = 0
    for line in map(str.strip, lines):
        if not line:
            num_blank += 1
        elif line in kept:
            num_duplicates += 1
        else:
            kept[line] = None
            if len(kept) == limit:
                break
    return Sentences(list(kept), num_blank, num_duplicates)


def _name(corpus: Corpus) -> str:
    source = corpus.source
    if isinstance(source, Builtin):
        return "builtin corpus"
    if isinstance(source, TextFiles):
        return ", ".join(source.paths)
    return getattr(source, "file", "") or f"dataset {source.dataset}"
