"""Answers as spans of a text, as BERT finds them in SQuAD (Devlin et al. 2019)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from rse_study.data.labelled import Text
from rse_study.data.template import tokens_of
from rse_study.errors import InputError
from rse_study.models.text_classifier import Classifier, Inputs, TextClassifier, Tokens

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
