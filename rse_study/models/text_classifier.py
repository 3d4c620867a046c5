"""Texts as a classifier reads them, its network, and its answers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from rse_study.data.labelled import Text
from rse_study.data.template import tokens_of
from rse_study.errors import InputError
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.heads import seeded_linear
from rse_study.models.modes import in_mode
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


Predict = Callable[[Sequence[Text]], np.ndarray]  # texts -> [n c]


class Classifier(nn.Module):
    """A sentence encoder with a linear head, fine-tuned as a whole."""

    def __init__(
        self, encoder: SentenceEncoder, num_outputs: int, dropout: float, generator: torch.Generator
    ) -> None:
        """Draw the head's weights from `generator`; raise InputError for prompt pooling."""
        super().__init__()
        if encoder.pooling == "prompt":
            rule = "a classifier reads bare texts and pairs, and a template is neither"
            raise InputError("pooling 'prompt'", rule=rule, remedy="Use cls, mean or first_last pooling")
        self.encoder = encoder
        self.dropout = nn.Dropout(dropout)
        self.head = seeded_linear(encoder.hidden_size, num_outputs, generator)

    def forward(self, inputs: Inputs, embeddings: Float[Tensor, "b l e"] | None = None) -> Tensor:
        """Return [b c]: logits per class, or a regression's values in its one column.

        `embeddings` are read in place of the tokens' word embeddings.
        """
        return self.head(self.dropout(self.pooled(inputs, embeddings)))

    def pooled(
        self, inputs: Inputs, embeddings: Float[Tensor, "b l e"] | None = None
    ) -> Float[Tensor, "b d"]:
        """Return the vectors that the head reads."""
        if embeddings is None:
            embeddings = self.encoder.word_embeddings(inputs.ids)
        # Attacks compare scores of texts with the same tokens, which must tie exactly. Decision 0025.
        return self.encoder(embeddings, inputs.mask, types=inputs.types, keeps_padding=True)


class TextClassifier:
    """A trained network with all it needs to read text; a regression if no classes.

    Order and repetition of texts change no bit; other texts in the same call may move float32's last bits.
    """

    def __init__(
        self,
        network: nn.Module,
        tokenizer: Any,
        classes: tuple[str, ...],
        max_length: int,
        batch_size: int = 64,
    ) -> None:
        """Take a network from Inputs to [b c]; texts beyond `max_length` tokens are cut."""
        self.network, self.tokenizer, self.classes = network, tokenizer, classes
        self.max_length, self.batch_size = max_length, batch_size

    def predict(self, texts: Sequence[Text]) -> Float[np.ndarray, "n c"]:
        """Return probabilities in float64, one row per text, in the order of `classes`."""
        logits = self.outputs(texts)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True, initial=-np.inf))
        return odds / odds.sum(axis=1, keepdims=True)

    def scores(self, texts: Sequence[Text]) -> Float[np.ndarray, " n"]:
        assert not self.classes, "a classifier has probabilities"
        return self.outputs(texts)[:, 0]

    @torch.no_grad()
    def outputs(self, texts: Sequence[Text]) -> Float[np.ndarray, "n c"]:
        """Return the network's outputs in float64, without dropout."""
        distinct = sorted(set(texts))
        rows = encode_texts(distinct, self.tokenizer, self.max_length)
        found = np.zeros((len(rows), len(self.classes) or 1))
        for places, outputs in self.batches(rows):
            found[places] = outputs
        where = {text: i for i, text in enumerate(distinct)}
        return found[[where[text] for text in texts]]

    def batches(self, rows: Sequence[Tokens]) -> Iterator[tuple[list[int], np.ndarray]]:
        """Yield the places of rows of similar length, and the network's outputs for them."""
        order = sorted(range(len(rows)), key=lambda i: (len(rows[i]), i))
        device = next(self.network.parameters()).device
        with in_mode(self.network, training=False):
            for start in range(0, len(order), self.batch_size):
                places = order[start : start + self.batch_size]
                inputs = padded([rows[i] for i in places], self.tokenizer.pad_token_id).to(device)
                yield places, self.network(inputs).double().cpu().numpy()

    def predicting(self, classes: tuple[str, ...]) -> Predict:
        """Return `predict` with columns in the order of the given classes, ignoring case."""
        own = [name.lower() for name in self.classes]
        if sorted(own) != sorted(name.lower() for name in classes):
            rule = f"the data's classes are {', '.join(classes)}"
            remedy = "Use a model trained for them, or name its classes so (id2label in its config.json)"
            raise InputError(f"predicts {', '.join(self.classes)}", rule=rule, remedy=remedy)
        columns = [own.index(name.lower()) for name in classes]
        return lambda texts: self.predict(texts)[:, columns]
