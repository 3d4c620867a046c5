"""A corpus tokenised once: flat ids and offsets, memory-mapped by every worker."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from rse_study.activity import ProgressCallback
from rse_study.data.template import encode, num_ids, special_ids
from rse_study.errors import InputError
from rse_study.spec import Spec, fingerprint_of
from rse_study.tensors import Int32

_CHUNK = 4096  # sentences per tokenizer call


class Meta(Spec):
    """The meaning of the ids, stored as meta.json."""

    format: int = 1
    num_sentences: int
    num_tokens: int
    max_length: int
    template: str
    vocabulary_size: int
    vocabulary_fingerprint: str
    special_ids: tuple[int, ...]
    pad_id: int
    mask_id: int
    corpus_fingerprint: str
    ids_fingerprint: str


class TokenisedCorpus:
    """Rows of token ids, special tokens included; read-only."""

    def __init__(self, directory: Path, meta: Meta) -> None:
        self.directory, self.meta = directory, meta
        self.ids = np.load(directory / "ids.npy", mmap_mode="r")
        self.offsets = np.load(directory / "offsets.npy")
        self.lengths = np.diff(self.offsets)

    @classmethod
    def open(cls, directory: Path) -> "TokenisedCorpus":
        """Open a folder made by `tokenise`; raise InputError if there is none."""
        try:
            meta = Meta(**json.loads((directory / "meta.json").read_text(encoding="utf-8")))
        except (FileNotFoundError, NotADirectoryError):
            raise InputError(
                "no tokenised corpus here", where=str(directory), remedy="Tokenise it again"
            ) from None
        return cls(directory, meta)

    @property
    def fingerprint(self) -> str:
        return self.meta.fingerprint()

    def __len__(self) -> int:
        return self.meta.num_sentences

    def num_different(self, unread: Collection[int]) -> int:
        """Count the rows that differ; those of nothing but `unread` tokens count as one."""
        num_read = np.concatenate([[0], np.cumsum(np.isin(self.ids, list(unread), invert=True))])
        is_read = np.diff(num_read[self.offsets]) > 0
        return len({hash(self.row(i).tobytes()) if is_read[i] else 0 for i in range(len(self))})

    def row(self, index: int) -> Int32[np.ndarray, " l"]:
        return self.ids[self.offsets[index] : self.offsets[index + 1]]


def tokenise(
    sentences: list[str],
    tokenizer: Any,
    max_length: int,
    directory: Path,
    template: str = "",
    on_progress: ProgressCallback = lambda done, total: None,
) -> TokenisedCorpus:
    """Tokenise into a new folder, which appears by a rename, and open it."""
    ids, lengths = _encode_all(sentences, tokenizer, max_length, template, on_progress)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    meta = Meta(
        num_sentences=len(sentences),
        num_tokens=int(offsets[-1]),
        max_length=max_length,
        template=template,
        vocabulary_size=num_ids(tokenizer),
        vocabulary_fingerprint=vocabulary_fingerprint(tokenizer),
        special_ids=tuple(special_ids(tokenizer)),
        pad_id=int(tokenizer.pad_token_id),
        mask_id=-1 if tokenizer.mask_token_id is None else int(tokenizer.mask_token_id),
        corpus_fingerprint=fingerprint_of(sentences),
        ids_fingerprint=hashlib.sha256(ids.tobytes() + offsets.tobytes()).hexdigest(),
    )
    _write(directory, ids, offsets, meta)
    return TokenisedCorpus.open(directory)


def vocabulary_fingerprint(tokenizer: Any) -> str:
    """sha256 (hex) of the tokenizer's token-to-id table."""
    return fingerprint_of(tokenizer.get_vocab())


def _encode_all(
    sentences: list[str],
    tokenizer: Any,
    max_length: int,
    template: str,
    on_progress: ProgressCallback,
) -> tuple[np.ndarray, np.ndarray]:
    flat, lengths = [np.zeros(0, np.int32)], list[int]()
    for start in range(0, len(sentences), _CHUNK):
        rows = encode(sentences[start : start + _CHUNK], tokenizer, max_length, template)
        flat.append(np.fromiter((i for row in rows for i in row), np.int32))
        lengths.extend(len(row) for row in rows)
        on_progress(min(start + _CHUNK, len(sentences)), len(sentences))
    return np.concatenate(flat), np.asarray(lengths, np.int64)


def _write(directory: Path, ids: np.ndarray, offsets: np.ndarray, meta: Meta) -> None:
    directory.parent.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
    try:
        building.chmod(0o755)
        np.save(building / "ids.npy", ids)
        np.save(building / "offsets.npy", offsets)
        (building / "meta.json").write_text(meta.model_dump_json(indent=1), encoding="utf-8")
        _move(building, directory, meta)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _move(building: Path, directory: Path, meta: Meta) -> None:
    try:
        building.rename(directory)
    except OSError:  # not empty: another process was faster, or it holds another corpus
        if TokenisedCorpus.open(directory).meta != meta:
            remedy = "Give another folder"
            raise InputError("another corpus is here", where=str(directory), remedy=remedy) from None
