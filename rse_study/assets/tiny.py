"""The assets `tiny` and `tiny-vectors`, small BERTs made from the corpus alone."""

from pathlib import Path
from typing import Any

import torch
from pydantic import NonNegativeInt, PositiveFloat, PositiveInt
from transformers import BertConfig, BertForMaskedLM

from rse_study.assets.masked_lm import MaskedLMTraining, TrainingCallback, train_and_measure
from rse_study.assets.store import build, write_meta
from rse_study.assets.word_pieces import train_tokenizer
from rse_study.assets.word_vectors import word_vectors
from rse_study.models.encoder_settings import StoredPooling, store_pooling
from rse_study.models.loading import quiet_loading, seeded_init
from rse_study.spec import Spec, field, fingerprint_of


class TinyEncoder(Spec):
    """Sizes and training of the tiny encoder.

    2 layers, d 128, 8k word pieces, mean pooling: what two cores train in minutes.
    """

    vocabulary_size: int = field(8000, ge=100)
    """at most; a small corpus gives fewer word pieces"""
    hidden_size: PositiveInt = 128
    num_layers: PositiveInt = 2
    num_heads: PositiveInt = 4
    intermediate_size: PositiveInt = 512
    max_positions: PositiveInt = 128
    # BERT's 0.02 suits d 768. At d 128, 0.05 with twice the learning rate guesses 11.0% of masked tokens on
    # Wikipedia sentences, 0.02 with 1e-3 9.6% (docs/results/assets.md).
    initializer_range: PositiveFloat = 0.05
    training: MaskedLMTraining = MaskedLMTraining(lr=2e-3, max_epochs=7)
    window: NonNegativeInt = field(0, neutral=0)
    """tokens on either side that are counted; the counts give the word vectors, and the masked LM trains its head
    alone. 0: everything is trained from random weights"""
    vector_size: PositiveFloat = field(0.1, neutral=0.1)
    """of counted vectors: root of the mean square of their entries"""


TINY = {
    "tiny": TinyEncoder(),
    # Why, and results with other vectors: docs/decisions/0020-a-quickstart-with-an-effect.md.
    "tiny-vectors": TinyEncoder(window=2, training=MaskedLMTraining(num_steps=200, lr=5e-3)),
}
"""Encoders built from the corpus, by the name that a trial gives."""


def tiny_encoder(
    root: Path,
    sentences: list[str],
    spec: TinyEncoder | None = None,
    on_progress: TrainingCallback = lambda done, total, loss: None,
) -> Path:
    """Return a folder in Hugging Face's layout: BertForMaskedLM, tokenizer, pooling."""
    wanted = spec or TinyEncoder()
    key = {"spec": wanted.identity(), "sentences": fingerprint_of(sentences)}
    return build(root, kind_of(wanted), key, lambda draft: _make(draft, sentences, wanted, on_progress))


def kind_of(spec: TinyEncoder) -> str:
    """Return the kind of asset that these settings make."""
    return "tiny-vectors" if spec.window else "tiny"


def random_model(spec: TinyEncoder, vocabulary_size: int) -> Any:
    """Return the untrained model, initialised from the training's seed."""
    config = BertConfig(
        vocab_size=vocabulary_size,
        hidden_size=spec.hidden_size,
        num_hidden_layers=spec.num_layers,
        num_attention_heads=spec.num_heads,
        intermediate_size=spec.intermediate_size,
        max_position_embeddings=spec.max_positions,
        initializer_range=spec.initializer_range,
    )
    with seeded_init(spec.training.seed):
        return BertForMaskedLM(config).float()


def _make(draft: Path, sentences: list[str], spec: TinyEncoder, on_progress: TrainingCallback) -> None:
    tokenizer = train_tokenizer(sentences, spec.vocabulary_size, spec.max_positions)
    model = random_model(spec, len(tokenizer))
    if spec.window:
        _set_word_vectors(model, tokenizer, sentences, spec)
    measured = train_and_measure(draft, model, tokenizer, sentences, spec.training, on_progress)
    with quiet_loading():
        model.save_pretrained(draft)
    tokenizer.save_pretrained(draft)
    store_pooling(draft, StoredPooling(pooling="mean"))
    write_meta(
        draft, {"asset": kind_of(spec), "spec": spec.identity(), "vocabulary": len(tokenizer), **measured}
    )


def _set_word_vectors(model: Any, tokenizer: Any, sentences: list[str], spec: TinyEncoder) -> None:
    """Replace random word vectors by counted ones, and freeze all but the head."""
    vectors = word_vectors(sentences, tokenizer, spec.hidden_size, spec.window, spec.training.seed)
    is_counted = vectors.any(1)  # the others, such as [MASK], keep their random vectors
    with torch.no_grad():
        model.bert.get_input_embeddings().weight[is_counted] = spec.vector_size * vectors[is_counted]
    model.bert.requires_grad_(False)
