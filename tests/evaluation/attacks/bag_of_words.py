"""A victim whose every answer can be worked out by hand: a logistic model on a bag of words."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from rse_study.data.labelled import Text


class BagOfWords:
    """p(1) = sigmoid(sum of the weights of the words); it remembers what it was asked, call by call."""

    def __init__(self, weights: Mapping[str, float], bias: float = 0.0) -> None:
        self.weights, self.bias = dict(weights), bias
        self.calls: list[list[Text]] = []

    def total(self, text: Text) -> float:
        return self.bias + math.fsum(self.weights.get(word, 0.0) for part in text for word in part.split())

    def probability(self, text: Text) -> float:
        return 1 / (1 + math.exp(-self.total(text)))

    def __call__(self, texts: Sequence[Text]) -> np.ndarray:
        self.calls.append(list(texts))
        ones = np.array([self.probability(text) for text in texts])
        return np.stack([1 - ones, ones], axis=1)

    @property
    def asked(self) -> Counter[Text]:
        return Counter(text for call in self.calls for text in call)


class Score(BagOfWords):
    """A victim that gives one number: the sum of the weights."""

    def __call__(self, texts: Sequence[Text]) -> np.ndarray:
        self.calls.append(list(texts))
        return np.array([[self.total(text)] for text in texts])
