"""Texts as a classifier reads them, its network, and its answers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from rse_study.data.labelled import Text
from rse_study.data.tokenised import tokens_of
from rse_study.errors import InputError
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.pooling import in_mode
from rse_study.models.rtd import seeded_linear
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


@dataclass(eq=False)
class TextClassifier:
    """A trained network with all it needs to read text; a regression if no classes.

    Order and repetition of texts change no bit; other texts in the same call may move float32's last bits.
    """

    network: nn.Module
    """from Inputs to [b c]"""
    tokenizer: Any
    classes: tuple[str, ...]
    max_length: int
    """in tokens, beyond which texts are cut"""
    batch_size: int = 64

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


SPAN = ("first token of the answer", "last token of the answer")
"""What the outputs of a span head stand for, in place of classes."""
MAX_ANSWER = 30  # tokens of an answer, as in BERT's script
MAX_QUESTION = 64  # tokens that are read of a question, likewise
_AT_ONCE = 1000  # questions that are tokenised together
MIN_LENGTH = 12  # tokens: with fewer there may be no room beside question and overlap


class SpanClassifier(Classifier):
    """A sentence encoder with a linear head on every token, fine-tuned as a whole."""

    def forward(self, inputs: Inputs, embeddings: Float[Tensor, "b l e"] | None = None) -> Tensor:
        """Return [b l 2]: logits of the answer's first and last token; -inf at padding."""
        if embeddings is None:
            embeddings = self.encoder.word_embeddings(inputs.ids)
        states = self.encoder.token_vectors(embeddings, inputs.mask, inputs.types)
        return self.head(self.dropout(states)).masked_fill(~inputs.mask[..., None], -torch.inf)


@dataclass(frozen=True)
class Window:
    """The part of a context that is read at once, after the question."""

    row: int
    """of the question, among those given"""
    tokens: Tokens
    spans: Int[np.ndarray, "l 2"]
    """the context's characters that each token stands for; -1, -1 outside of the context"""

    def place_of(self, start: int, end: int) -> tuple[int, int]:
        """Return a span's first and last token; 0, [CLS], if it is not all here."""
        first, last = self.spans.T
        if not first[first >= 0].min(initial=end) <= start < end <= last.max():
            return 0, 0
        (touched,) = np.nonzero((first >= 0) & (last > start) & (first < end))
        return (int(touched[0]), int(touched[-1])) if len(touched) else (0, 0)

    def best(self, logits: Float[np.ndarray, "l 2"]) -> tuple[float, int, int]:
        """Return the sum of logits, first and last character of the best span."""
        firsts, lasts = np.where(self.spans[:, :1] < 0, -np.inf, logits).T
        sums = [firsts[: len(firsts) - more] + lasts[more:] for more in range(min(MAX_ANSWER, len(firsts)))]
        more = int(np.argmax([row.max() for row in sums]))
        first = int(sums[more].argmax())
        return float(sums[more][first]), int(self.spans[first, 0]), int(self.spans[first + more, 1])


def windows(texts: Sequence[Text], tokenizer: Any, max_length: int) -> Iterator[Window]:
    """Cut contexts into windows of `max_length` tokens that overlap by a third."""
    if max_length < MIN_LENGTH:
        rule, remedy = f"a window needs {MIN_LENGTH} tokens or more", "Raise max_length; BERT has 384"
        raise InputError(f"max_length = {max_length}", where="SQuAD", rule=rule, remedy=remedy)
    for begin in range(0, len(texts), _AT_ONCE):
        questions, contexts = zip(*texts[begin : begin + _AT_ONCE], strict=True)
        found = tokens_of(
            tokenizer,
            _cut(questions, tokenizer, min(MAX_QUESTION, max_length // 4)),
            list(contexts),
            truncation="only_second",
            max_length=max_length,
            stride=max_length // 3,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            return_token_type_ids=True,
        )
        for i, row in enumerate(found.overflow_to_sample_mapping):
            is_context = np.array([side == 1 for side in found.sequence_ids(i)])[:, None]
            spans = np.where(is_context, np.array(found.offset_mapping[i], np.int32), -1)
            yield Window(begin + row, Tokens(found.input_ids[i], found.token_type_ids[i]), spans)


class SpanReader(TextClassifier):
    """A trained span head with all it needs to read questions."""

    @torch.no_grad()
    def answers(self, texts: Sequence[Text]) -> list[str]:
        """Return each question's span with the highest sum of logits of its ends."""
        cut = list(windows(texts, self.tokenizer, self.max_length))
        best = [(-np.inf, 0, 0)] * len(texts)
        for places, outputs in self.batches([window.tokens for window in cut]):
            for place, logits in zip(places, outputs, strict=True):
                window = cut[place]
                best[window.row] = max(best[window.row], window.best(logits[: len(window.tokens)]))
        return [context[first:last] for (_, context), (_, first, last) in zip(texts, best, strict=True)]


def _cut(questions: Sequence[str], tokenizer: Any, num_tokens: int) -> list[str]:
    """Return the beginning of each question, of so many tokens."""
    found = tokens_of(
        tokenizer,
        list(questions),
        add_special_tokens=False,
        truncation=True,
        max_length=num_tokens,
        return_offsets_mapping=True,
    )
    return [
        question[: spans[-1][1] if spans else 0]
        for question, spans in zip(questions, found.offset_mapping, strict=True)
    ]
