"""An encoder cache, because evaluations share sentences."""

import numpy as np

from rse_study.evaluation.vectors import Embed


class CachedEncoder:
    """Embeds each sentence once and keeps all vectors as long as it lives."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._place: dict[str, int] = {}
        self._vectors = np.zeros((0, 0))

    def __call__(self, sentences: list[str]) -> np.ndarray:
        new = [sentence for sentence in dict.fromkeys(sentences) if sentence not in self._place]
        if new:
            vectors = np.asarray(self._embed(new))
            self._place |= {sentence: len(self._place) + i for i, sentence in enumerate(new)}
            self._vectors = np.concatenate([self._vectors, vectors]) if self._vectors.size else vectors
        return self._vectors[[self._place[sentence] for sentence in sentences]]
