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
    shape = len(rows), max(map(len, rows))
    ids, types = torch.full(shape, pad_id), torch.zeros(shape, dtype=torch.long)
    mask = torch.zeros(shape, dtype=torch.bool)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = torch.tensor(row.ids)
        types[i, : len(row)] = torch.tensor(row.types)
        mask[i, : len(row)] = True
    return Inputs(ids, mask, types)


def _check_frame(tokenizer: Any, max_length: int, *, is_pair: bool) -> None:
    num_fixed, name = tokenizer.num_special_tokens_to_add(pair=is_pair), str(tokenizer.name_or_path)
    if is_pair and num_fixed <= tokenizer.num_special_tokens_to_add(pair=False):
        rule = "a pair is one sequence, and something must stand between its two sentences"
        remedy = "Give the tokenizer a template for pairs, such as [CLS] $A [SEP] $B [SEP]"
        raise InputError("its tokenizer frames no pairs", where=name, rule=rule, remedy=remedy)
    if max_length <= num_fixed:
        rule = f"it must exceed the {num_fixed} special tokens"
        raise InputError(f"max_length = {max_length}", where=name, rule=rule, remedy="Raise max_length")
