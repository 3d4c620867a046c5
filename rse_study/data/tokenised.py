"""Sentences as token ids, and a corpus tokenised once, which every worker maps."""

import hashlib
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from rse_study.activity import ProgressCallback
from rse_study.errors import InputError
from rse_study.spec import Spec, field, fingerprint_of
from rse_study.tensors import Int32

PIECE = "##"  # WordPiece marks continuations
MARKS = ("\u0120", "\u2581")  # byte-level BPE and SentencePiece mark beginnings


def marks_beginnings(tokens: Collection[str]) -> bool:
    """Whether more tokens bear a mark of beginnings than of continuations."""
    return sum(token.startswith(MARKS) for token in tokens) > sum(token.startswith(PIECE) for token in tokens)


SLOT, MASK = "[X]", "[MASK]"
FIELD = "encoder.template"


def encode(sentences: list[str], tokenizer: Any, max_length: int, template: str = "") -> list[list[int]]:
    """Return each sentence's token ids with special tokens, cut to `max_length`.

    In a template such as `This sentence of "[X]" means [MASK].` only the sentence is cut, never the template.
    """
    if not template:
        _check_room(len(tokenizer("").input_ids), max_length, tokenizer)
        return tokens_of(tokenizer, sentences, truncation=True, max_length=max_length)["input_ids"]
    before, after = _parts(tokenizer, template)
    room = max_length - len(before) - len(after)
    _check_room(len(before) + len(after), max_length, tokenizer)
    bare = tokens_of(tokenizer, sentences, add_special_tokens=False, truncation=True, max_length=room)
    return [before + ids + after for ids in bare["input_ids"]]


def tokens_of(tokenizer: Any, *sides: Any, **settings: Any) -> Any:
    """Tokenise texts, in which the name of a special token, such as [MASK], is text.

    If the vocabulary has the name as a word, or the text is cut into windows, it is an unknown word. Two kinds of names
    are tokens: that of the unknown word, which attacks put into texts, and those that the tokenizer's authors added
    without a role.
    """
    settings |= {"return_special_tokens_mask": True}
    found, unknown = tokenizer(*sides, split_special_tokens=False, **settings), tokenizer.unk_token_id
    special = {*special_ids(tokenizer)} - {unknown}
    is_split = {*tokenizer.all_special_tokens} <= {*tokenizer.special_tokens_map.values()}

    def spelt(row: int) -> list[int]:
        ids, is_frame = found["input_ids"][row], found["special_tokens_mask"][row]
        return [place for place, one in enumerate(ids) if one in special and not is_frame[place]]

    for row in filter(spelt, range(len(found["input_ids"]))):
        if is_split and "overflow_to_sample_mapping" not in found:
            again = tokenizer(*([side[row]] for side in sides), split_special_tokens=True, **settings)
            for key, (value,) in again.items():
                found[key][row] = value
        for place in spelt(row):
            if unknown is None:
                what = f"a text holds {tokenizer.convert_ids_to_tokens(found['input_ids'][row][place])!r}"
                rule = "its tokenizer reads it as a special token, and has none for unknown words"
                raise InputError(what, where=str(tokenizer.name_or_path), rule=rule, remedy="Remove it")
            found["input_ids"][row][place] = unknown
    return found


def num_ids(tokenizer: Any) -> int:
    """Return 1 + the largest id, the size of a table by id; ids may have holes."""
    return 1 + max(tokenizer.get_vocab().values())


def special_ids(tokenizer: Any) -> list[int]:
    """Return ids that are never perturbed or masked; an unknown word is not special."""
    roles = ("cls", "sep", "pad", "bos", "eos", "mask")
    ids = {getattr(tokenizer, f"{role}_token_id") for role in roles}
    return sorted(int(i) for i in ids if i is not None)


def _parts(tokenizer: Any, template: str) -> tuple[list[int], list[int]]:
    """Return the ids before and after the sentence, special tokens included."""
    mask = tokenizer.mask_token or MASK
    told = template.replace(MASK, mask)
    if told.count(SLOT) != 1 or told.count(mask) != 1:
        rule = f"a template holds {SLOT} (the sentence) and {MASK} (whose vector is taken) once each"
        remedy = f'For example: This sentence of "{SLOT}" means {MASK}.'
        raise InputError(f"template {template!r}", where=FIELD, rule=rule, remedy=remedy)
    # Pooling takes the first [MASK]: that is the template's, since no text gives one, not even by unknown words.
    if tokenizer.mask_token_id in (None, tokenizer.unk_token_id):
        where, rule = str(tokenizer.name_or_path), "a template needs one"
        raise InputError("it has no mask token", where=where, rule=rule, remedy="Use another pooling")
    before, after = told.split(SLOT)
    opening, closing = specials(tokenizer)
    return opening + _bare(tokenizer, before), _bare(tokenizer, after) + closing


def specials(tokenizer: Any) -> tuple[list[int], list[int]]:
    """Return the special tokens before and after a text."""
    content = _bare(tokenizer, "a")
    whole = list(tokenizer("a").input_ids)
    start = next(i for i in range(len(whole)) if whole[i : i + len(content)] == content)
    return whole[:start], whole[start + len(content) :]


def _bare(tokenizer: Any, text: str) -> list[int]:
    return (
        list(tokenizer(text, add_special_tokens=False, split_special_tokens=False).input_ids) if text else []
    )


def _check_room(num_fixed: int, max_length: int, tokenizer: Any) -> None:
    if max_length <= num_fixed:
        rule = f"it must exceed the {num_fixed} special and template tokens"
        where = str(tokenizer.name_or_path)
        raise InputError(f"max_length = {max_length}", where=where, rule=rule, remedy="Raise max_length")


_CHUNK = 4096  # sentences per tokenizer call


class Meta(Spec):
    """The meaning of the ids, stored as meta.json."""

    format: int = 1
    num_sentences: int
    num_texts: int = field(1, neutral=1)
    """texts of each sentence: itself, its paraphrase and its hard negative, whose rows follow those of all sentences"""
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
    num_texts: int = 1,
) -> TokenisedCorpus:
    """Tokenise into a new folder, meta.json last, and open it."""
    ids, lengths = _encode_all(sentences, tokenizer, max_length, template, on_progress)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    meta = Meta(
        num_sentences=len(sentences) // num_texts,
        num_texts=num_texts,
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
    directory.mkdir(parents=True)
    np.save(directory / "ids.npy", ids)
    np.save(directory / "offsets.npy", offsets)
    (directory / "meta.json").write_text(
        meta.model_dump_json(indent=1, exclude=set() if num_texts > 1 else {"num_texts"}), encoding="utf-8"
    )
    return TokenisedCorpus.open(directory)


def vocabulary_fingerprint(tokenizer: Any) -> str:
    """sha256 (hex) of the tokenizer's token-to-id table."""
    return fingerprint_of(tokenizer.get_vocab())


def _encode_all(
    sentences: list[str], tokenizer: Any, max_length: int, template: str, on_progress: ProgressCallback
) -> tuple[np.ndarray, np.ndarray]:
    flat, lengths = [np.zeros(0, np.int32)], list[int]()
    for start in range(0, len(sentences), _CHUNK):
        rows = encode(sentences[start : start + _CHUNK], tokenizer, max_length, template)
        flat.append(np.fromiter((i for row in rows for i in row), np.int32))
        lengths.extend(len(row) for row in rows)
        on_progress(min(start + _CHUNK, len(sentences)), len(sentences))
    return np.concatenate(flat), np.asarray(lengths, np.int64)
