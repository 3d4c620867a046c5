"""Sentence vectors for evaluation: list[str] -> array."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from rse_study.activity import ProgressCallback
from rse_study.data.template import encode
from rse_study.models.encoder import SentenceEncoder, first_position
from rse_study.models.modes import in_mode
from rse_study.models.text_classifier import padded_ids


class Embedder:
    """An encoder in evaluation: no dropout, no head, its own maximum length.

    Distinct sentences are encoded once; no vector depends on their order. `on_progress` gets (encoded, total).
    """

    def __init__(
        self,
        encoder: SentenceEncoder,
        tokenizer: Any,
        template: str = "",
        batch_size: int = 64,
        on_progress: ProgressCallback = lambda done, total: None,
    ) -> None:
        self.encoder, self.tokenizer, self.template = encoder, tokenizer, template
        self.batch_size = batch_size
        self.max_length = max_length(encoder, tokenizer)
        self._on_progress = on_progress

    @property
    def pooling(self) -> str:
        return self.encoder.pooling

    @property
    def leaves_pooler_out(self) -> bool:
        """Whether [CLS] is read without the pooler that the checkpoint has."""
        return self.pooling == "cls" and self.encoder.has_unread_pooler

    @torch.no_grad()
    def __call__(self, sentences: list[str]) -> Float[np.ndarray, "n d"]:
        """Return one row per sentence; the encoder gets its modes back afterwards."""
        distinct = sorted(set(sentences))
        rows = encode(distinct, self.tokenizer, self.max_length, self.template) if distinct else []
        order = sorted(range(len(rows)), key=lambda i: (len(rows[i]), i))
        vectors = np.zeros((len(rows), self.encoder.hidden_size), np.float32)
        with in_mode(self.encoder, training=False):
            for start in range(0, len(order), self.batch_size):
                places = order[start : start + self.batch_size]
                vectors[places] = self._encode([rows[i] for i in places]).float().cpu().numpy()
                self._on_progress(start + len(places), len(order))
        where = {sentence: i for i, sentence in enumerate(distinct)}
        return vectors[[where[sentence] for sentence in sentences]]

    def _encode(self, rows: list[list[int]]) -> Tensor:
        device = next(self.encoder.parameters()).device
        ids, mask = (part.to(device) for part in padded_ids(rows, self.tokenizer.pad_token_id))
        # Sorted by length, batches have little padding; computing it lets equal rows tie. Decision 0025.
        return self.encoder(self.encoder.word_embeddings(ids), mask, ids, keeps_padding=True)


def max_length(encoder: SentenceEncoder, tokenizer: Any) -> int:
    """Return the most tokens the encoder can read, by its tokenizer and positions."""
    positions = getattr(encoder.config, "max_position_embeddings", None)
    usable = positions - first_position(encoder.backbone) if positions else tokenizer.model_max_length
    return int(min(tokenizer.model_max_length, usable))
