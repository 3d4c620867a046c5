"""Classifiers on disk: ours add a head to an encoder's folder; or Hugging Face's."""

from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from pydantic import PositiveInt, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import AutoModelForSequenceClassification

from rse_study.errors import InputError
from rse_study.models.embedder import max_length
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.export import save_encoder
from rse_study.models.loading import WEIGHTS, load_config, load_encoder, load_tokenizer, opening, pretrained
from rse_study.models.text_classifier import (
    SPAN,
    Classifier,
    Inputs,
    SpanClassifier,
    SpanReader,
    TextClassifier,
)
from rse_study.spec import Spec

RECORD, HEAD = "classifier.json", "head.safetensors"


class StoredClassifier(Spec):
    """The record beside the weights: the classes, and how texts are read."""

    classes: tuple[str, ...]
    """in the order of the outputs; empty for a regression"""
    max_length: PositiveInt
    dropout: float


class HubNetwork(nn.Module):
    """A Hugging Face sequence classifier with the interface of `Classifier`."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        super().__init__()
        self.model = model
        self.encoder = SentenceEncoder(model.base_model, "cls")  # only to look up what the backbone takes
        self.tells_types = self.encoder.tells_types and "token_type_ids" in tokenizer.model_input_names

    def forward(self, inputs: Inputs) -> Float[Tensor, "b c"]:
        types = {"token_type_ids": inputs.types} if self.tells_types else {}
        return self.model(input_ids=inputs.ids, attention_mask=inputs.mask.long(), **types).logits


def network_for(
    encoder: SentenceEncoder, classes: tuple[str, ...], dropout: float, generator: torch.Generator
) -> Classifier:
    """Put a head on the encoder: for spans, classes, or the value of a regression."""
    kind = SpanClassifier if classes == SPAN else Classifier
    return kind(encoder, len(classes) or 1, dropout, generator)


def reader_of(
    network: Classifier, tokenizer: Any, classes: tuple[str, ...], max_length: int
) -> TextClassifier:
    """Return what a network of `network_for` reads texts with."""
    kind = SpanReader if classes == SPAN else TextClassifier
    return kind(network, tokenizer, classes, max_length)


def save_classifier(directory: Path, classifier: TextClassifier) -> None:
    """Write weights (float32), tokenizer, pooling and classes; loaded, all bits agree."""
    network = classifier.network
    assert isinstance(network, Classifier), "a folder of Hugging Face's is kept by save_pretrained"
    save_encoder(directory, network.encoder, classifier.tokenizer)
    head = {
        name: value.detach().float().cpu().contiguous() for name, value in network.head.state_dict().items()
    }
    save_file(head, directory / HEAD)
    stored = StoredClassifier(
        classes=classifier.classes, max_length=classifier.max_length, dropout=network.dropout.p
    )
    (directory / RECORD).write_text(stored.model_dump_json(indent=2) + "\n", encoding="utf-8")


def load_classifier(path_or_name: str | Path, revision: str = "main") -> TextClassifier:
    """Load a classifier in float32; InputError if unreadable or without trained head."""
    record = Path(path_or_name) / RECORD
    return _ours(record) if record.is_file() else _theirs(str(path_or_name), revision)


def _ours(record: Path) -> TextClassifier:
    encoder, tokenizer = load_encoder(record.parent)
    try:
        stored = StoredClassifier.model_validate_json(record.read_text(encoding="utf-8"))
        network = network_for(encoder, stored.classes, stored.dropout, torch.Generator())
        network.head.load_state_dict(load_file(record.with_name(HEAD)))
    except (OSError, RuntimeError, SafetensorError, ValidationError) as error:
        first = str(error).split("\n")[0]
        raise InputError(f"damaged: {first}", where=str(record), remedy="Save or build it again") from None
    return reader_of(network.eval(), tokenizer, stored.classes, stored.max_length)


def _theirs(name: str, revision: str) -> TextClassifier:
    config, tokenizer = load_config(name, revision), load_tokenizer(name, revision)
    with opening(name, *WEIGHTS):
        model, report = pretrained(AutoModelForSequenceClassification, name, config, revision)
    if report["missing_keys"]:
        what = (
            f"{len(report['missing_keys'])} weights are missing, the first is {min(report['missing_keys'])!r}"
        )
        rule, remedy = "a victim is a classifier that has been trained", "Fine-tune it first"
        raise InputError(what, where=name, rule=rule, remedy=remedy)
    network = HubNetwork(model, tokenizer).eval()
    classes = tuple(config.id2label[i] for i in range(config.num_labels)) if config.num_labels > 1 else ()
    return TextClassifier(network, tokenizer, classes, max_length(network.encoder, tokenizer))
