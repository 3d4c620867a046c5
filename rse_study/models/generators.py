"""Masked language models: RTD's generators and their outputs, predictors of words."""

import hashlib
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor
from transformers import AutoModelForMaskedLM

from rse_study.data.tokenised import MARKS, PIECE, marks_beginnings, specials, tokens_of
from rse_study.errors import InputError
from rse_study.evaluation.attacks.transformations import Blank
from rse_study.models.encoder import first_position
from rse_study.models.loading import check_family, load_config, load_tokenizer, pretrained, quiet_loading
from rse_study.models.model_files import reading
from rse_study.models.rtd import Generator, masked_logits
from rse_study.models.text_classifier import padded_ids
from rse_study.results.files.atomic import write_whole

RULE = "RTD needs a masked language model"
REMEDY = "Name a checkpoint saved with its masked-LM head (method.rtd.generator), or set lambda2: 0."
BLOCK = 64  # steps per file; a killed process loses at most one file
LIMIT = 2 * 10**9  # bytes of all folders together, before a cell adds its own
_HASH_BYTES = 32


def load_generator(path_or_name: str | Path, revision: str = "main") -> Generator:
    """Load a masked LM by folder or hub name; raise InputError if it has no LM head."""
    name = str(path_or_name)
    config = load_config(name, revision)
    check_family(name, config)
    tokenizer = load_tokenizer(name, revision)
    if tokenizer.mask_token_id is None:
        raise InputError(
            "its tokenizer has no [MASK]", where=name, rule="the generator fills masked tokens", remedy=REMEDY
        )
    with reading(name, REMEDY, "no masked language model"), quiet_loading():
        model, report = pretrained(AutoModelForMaskedLM, name, config, revision)
    if report["missing_keys"]:
        what = f"it has no masked-LM head: {sorted(report['missing_keys'])[0]!r} is missing"
        raise InputError(what, where=name, rule=RULE, remedy=REMEDY)
    return Generator(model, tokenizer, name)


def check_same_tokenizer(generator_tokenizer: Any, encoder_tokenizer: Any) -> None:
    """Raise InputError that names the first token at which two vocabularies differ."""
    g_name, e_name = generator_tokenizer.name_or_path, encoder_tokenizer.name_or_path
    g_tokens = {i: token for token, i in generator_tokenizer.get_vocab().items()}
    e_tokens = {i: token for token, i in encoder_tokenizer.get_vocab().items()}
    for i in range(max(len(g_tokens), len(e_tokens), 1 + max([*g_tokens, *e_tokens, 0]))):
        if g_tokens.get(i) != e_tokens.get(i):
            raise InputError(
                f"token {i} is {g_tokens.get(i, 'absent')!r} for the generator and"
                f" {e_tokens.get(i, 'absent')!r} for the encoder {e_name}",
                where=str(g_name),
                rule="the generator's tokenizer must be the encoder's, token by token",
                remedy="Use a generator trained with the encoder's tokenizer, or lambda2 = 0.",
            )


class WordPredictor:
    """A source of whole words of letters, one token each, the most probable first.

    A word of several pieces is hidden even where it should stay visible, since one token stands for it. BERT-Attack
    tries combinations of pieces there; we only score words of one piece.
    """

    def __init__(self, generator: Generator, num_words: int = 60, batch_size: int = 64) -> None:
        self.generator, self.num_words, self.batch_size = generator, num_words, batch_size
        self._tokens, self._words = _whole_words(generator.tokenizer)
        self._opening, self._closing = specials(generator.tokenizer)
        usable = generator.model.config.max_position_embeddings - first_position(generator.model.base_model)
        length = min(generator.tokenizer.model_max_length, usable)
        self._room = int(length) - len(self._opening) - len(self._closing)

    @torch.no_grad()
    def __call__(self, places: Sequence[Blank]) -> list[list[tuple[str, float]]]:
        """Return each place's words, with their probabilities among all tokens."""
        found: list[list[tuple[str, float]]] = []
        for start in range(0, len(places), self.batch_size):
            found += self._predict(places[start : start + self.batch_size])
        return found

    def _predict(self, places: Sequence[Blank]) -> list[list[tuple[str, float]]]:
        rows = [self._row(place) for place in places]
        ids, mask = padded_ids([tokens for tokens, _ in rows], self.generator.tokenizer.pad_token_id)
        at = torch.zeros_like(mask)
        at[torch.arange(len(rows)), [where for _, where in rows]] = True
        ids, at, mask = (part.to(next(self.generator.parameters()).device) for part in (ids, at, mask))
        logits = masked_logits(self.generator.model, ids, at, mask, skips_padding=False)
        words = logits.double().softmax(-1)[:, self._tokens.to(ids.device)]
        best = words.topk(min(self.num_words, len(self._words)))
        return [
            [(self._words[i], value) for i, value in zip(places_, values, strict=True)]
            for places_, values in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        ]

    def _row(self, place: Blank) -> tuple[list[int], int]:
        """Return the token ids around a word, as many as fit, and the word's position."""
        tokenizer = self.generator.tokenizer
        before, own, after = (
            self._pieces(words)
            for words in (
                place.words[: place.position],
                [place.words[place.position]],
                place.words[place.position + 1 :],
            )
        )
        token = [tokenizer.mask_token_id] if place.is_masked or len(own) != 1 else own
        room = self._room - 1
        num_after = min(len(after), max(room // 2, room - len(before)))
        before = before[len(before) - min(len(before), room - num_after) :]
        whole = [*self._opening, *before, *token, *after[:num_after], *self._closing]
        return whole, len(self._opening) + len(before)

    def _pieces(self, words: list[str]) -> list[int]:
        if not words:
            return []
        tokenizer = self.generator.tokenizer
        found = tokens_of(tokenizer, [words], is_split_into_words=True, add_special_tokens=False)
        return list(found["input_ids"][0])


def _whole_words(tokenizer: Any) -> tuple[torch.Tensor, list[str]]:
    names = sorted(tokenizer.get_vocab().items(), key=lambda entry: entry[1])
    is_marked = marks_beginnings([name for name, _ in names])
    special, tokens, words = set(tokenizer.all_special_ids), [], []
    for name, token in names:
        word = name[1:] if is_marked and name.startswith(MARKS) else name
        begins = name.startswith(MARKS) if is_marked else not name.startswith(PIECE)
        if begins and word.isalpha() and token not in special:
            tokens.append(token)
            words.append(word)
    return torch.tensor(tokens), words


@dataclass(frozen=True)
class Replacements:
    """The positions where x'' of one step differs from x, and the tokens there."""

    places: Int[Tensor, " n"]
    """flat indices into the batch, row by row"""
    tokens: Int[Tensor, " n"]

    @classmethod
    def of(cls, ids: Int[Tensor, "b l"], edited: Int[Tensor, "b l"]) -> "Replacements":
        places = (edited != ids).flatten().nonzero().squeeze(1)
        return cls(places, edited.flatten()[places])

    def in_place_of(self, ids: Int[Tensor, "b l"]) -> Int[Tensor, "b l"]:
        return ids.flatten().index_copy(0, self.places, self.tokens.to(ids.dtype)).view_as(ids)


Block = dict[int, Replacements]


class GeneratorOutputs:
    """The stored x'' of a cell; a missing or damaged step is computed and written.

    One worker of all cells that agree in everything x'' depends on has the folder; cells write the same
    values at any time.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = -1
        self._known: Block = {}
        self._fresh: dict[int, tuple[Tensor, Tensor]] = {}

    def edited(
        self, ids: Int[Tensor, "b l"], step: int, compute: Callable[[], Int[Tensor, "b l"]]
    ) -> Int[Tensor, "b l"]:
        """Return x'' of a step, counted from 0; `compute` makes it if it is not stored."""
        if step // BLOCK != self._number:
            self.flush()
            self._number = step // BLOCK
            self._known = read_block(self._path, ids.device)
        if step in self._known:
            return self._known[step].in_place_of(ids)
        edited = compute()
        self._fresh[step] = (ids, edited)  # compared and copied off the device once a block
        return edited

    def flush(self) -> None:
        """Write what was computed, unless the folder is read-only or a GPU has failed."""
        if not self._fresh:
            return
        pairs, self._fresh = self._fresh, {}
        with suppress(OSError, RuntimeError):
            fresh = {step: Replacements.of(*pair) for step, pair in pairs.items()}
            write_block(self._path, read_block(self._path, torch.device("cpu")) | fresh)

    @property
    def _path(self) -> Path:
        return self._folder / f"{self._number:06d}"


def write_block(path: Path, block: Block) -> None:
    """Write replacements by step: a hash, then four-byte integers."""
    steps = sorted(block)
    counts = [len(block[step].places) for step in steps]
    places, tokens = (
        [getattr(block[step], part).cpu().numpy() for step in steps] for part in ("places", "tokens")
    )
    flat = np.concatenate([np.array([len(steps), *steps, *counts]), *places, *tokens]).astype("<i4").tobytes()
    write_whole(path, hashlib.sha256(flat).digest() + flat)


def read_block(path: Path, device: torch.device) -> Block:
    """Read what `write_block` wrote; empty if the file is missing or damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return {}
    if hashlib.sha256(content[_HASH_BYTES:]).digest() != content[:_HASH_BYTES]:
        return {}
    flat = np.frombuffer(content[_HASH_BYTES:], "<i4").astype(np.int64)
    steps, counts, values = np.split(flat[1:], [flat[0], 2 * flat[0]])
    places, tokens = torch.from_numpy(values).to(device).view(2, -1)
    parts = (part.split(counts.tolist()) for part in (places, tokens))
    return {step: Replacements(*pair) for step, *pair in zip(steps.tolist(), *parts, strict=True)}


def make_room(root: Path, folder: Path, limit: int = LIMIT) -> None:
    """Remove the least recently used folders beyond `limit` bytes, but not `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.touch()
    held = 0
    for other in sorted(root.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True):
        held += sum(file.stat().st_size for file in other.iterdir())
        if held > limit and other != folder:
            shutil.rmtree(other, ignore_errors=True)
