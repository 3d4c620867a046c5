"""Texts as a classifier reads them: one sentence, or a pair in one sequence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from rse_study.data.labelled import Text
from rse_study.data.template import tokens_of
from rse_study.errors import InputError
from rse_study.tensors import sent


@dataclass(frozen=True)
class Tokens:
    """Token ids of one text, and the sentence of a pair (0 or 1) each belongs to."""

    ids: list[int]
    types: list[int]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Inputs:
    """A padded batch of texts."""

    ids: Int[Tensor, "b l"]
    mask: Bool[Tensor, "b l"]
    """True = real token"""
    types: Int[Tensor, "b l"]

    def to(self, device: torch.device) -> "Inputs":
        return Inputs(*(sent(part, device) for part in (self.ids, self.mask, self.types)))


def encode_texts(texts: Sequence[Text], tokenizer: Any, max_length: int) -> list[Tokens]:
    """Tokenise texts, cut to `max_length` tokens, a pair from its longer side first."""
    if not texts:
        return []
    sides = [list(side) for side in zip(*texts, strict=True)]
    _check_frame(tokenizer, max_length, is_pair=len(sides) == 2)
    found = tokens_of(tokenizer, *sides, truncation=True, max_length=max_length, return_token_type_ids=True)
    return [Tokens(ids, types) for ids, types in zip(found.input_ids, found.token_type_ids, strict=True)]


def padded(rows: Sequence[Tokens], pad_id: int) -> Inputs:
    """Pad texts to the longest of them."""
    ids, mask = padded_ids([row.ids for row in rows], pad_id)
    return Inputs(ids, mask, padded_ids([row.types for row in rows], 0)[0])


def padded_ids(rows: Sequence[Sequence[int]], pad_id: int) -> tuple[Int[Tensor, "b l"], Bool[Tensor, "b l"]]:
    """Pad rows of ids to the longest; return them with a mask, True = real token."""
    ids = torch.full((len(rows), max(map(len, rows))), pad_id)
    mask = torch.zeros(ids.shape, dtype=torch.bool)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = torch.tensor(row)
        mask[i, : len(row)] = True
    return ids, mask


def _check_frame(tokenizer: Any, max_length: int, *, is_pair: bool) -> None:
    num_fixed, name = tokenizer.num_special_tokens_to_add(pair=is_pair), str(tokenizer.name_or_path)
    if is_pair and num_fixed <= tokenizer.num_special_tokens_to_add(pair=False):
        rule = "a pair is one sequence, and something must stand between its two sentences"
        remedy = "Give the tokenizer a template for pairs, such as [CLS] $A [SEP] $B [SEP]"
        raise InputError("its tokenizer frames no pairs", where=name, rule=rule, remedy=remedy)
    if max_length <= num_fixed:
        rule = f"it must exceed the {num_fixed} special tokens"
        raise InputError(f"max_length = {max_length}", where=name, rule=rule, remedy="Raise max_length")
