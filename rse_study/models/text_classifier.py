"""The classifier that is attacked and scored: it maps texts to probabilities."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import nn

from rse_study.data.labelled import Text
from rse_study.errors import InputError
from rse_study.models.modes import in_mode
from rse_study.models.text_inputs import Tokens, encode_texts, padded

Predict = Callable[[Sequence[Text]], np.ndarray]  # texts -> [n c]


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
