"""A sentence-transformers model with all that its authors recorded."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from rse_study.activity import ProgressCallback
from rse_study.data.hub_models import hub_arguments
from rse_study.errors import InputError
from rse_study.models.embedder import LONG, SHORT, check_alone
from rse_study.models.encoder_settings import Recorded
from rse_study.models.loading import quiet_loading, seeded_init
from rse_study.models.model_files import AGAIN, reading


class WholeModel:
    """Sentence vectors of sentence-transformers' own `encode`: list[str] -> array.

    Distinct sentences are encoded once. `on_progress` gets (encoded, total). Raises InputError if a file is damaged,
    a weight is missing, or a vector depends on the other sentences of its batch.
    """

    template = ""

    def __init__(
        self,
        path_or_name: str | Path,
        device: str = "cpu",
        batch_size: int = 64,
        on_progress: ProgressCallback = lambda done, total: None,
    ) -> None:
        name = str(path_or_name)
        recorded = Recorded(name)
        recorded.check_modules()
        self.pooling = recorded.pooling_text
        self._batch_size, self._on_progress = batch_size, on_progress
        with reading(name, "Does sentence-transformers load it? If not, save it again"), quiet_loading():
            self._model: Any = _load(name, device, seed=0)
            alone, beside = self._model.encode([SHORT]), self._model.encode([SHORT, LONG])
            again = _load(name, device, seed=1).encode([SHORT])
        check_alone(name, torch.from_numpy(alone), torch.from_numpy(beside[:1]))
        if not np.array_equal(alone, again):
            rule = "two loads give two vectors: what is missing is drawn at random"
            raise InputError("some of its weights are missing", where=name, rule=rule, remedy=AGAIN)

    def __call__(self, sentences: list[str]) -> Float[np.ndarray, "n d"]:
        """Return one row per sentence."""
        distinct = sorted(set(sentences), key=lambda sentence: (len(sentence), sentence))
        vectors = np.zeros((len(distinct), self._model.get_embedding_dimension()), np.float32)
        for start in range(0, len(distinct), self._batch_size):
            batch = slice(start, start + self._batch_size)
            vectors[batch] = self._model.encode(distinct[batch], show_progress_bar=False)
            self._on_progress(min(batch.stop, len(distinct)), len(distinct))
        where = {sentence: i for i, sentence in enumerate(distinct)}
        return vectors[[where[sentence] for sentence in sentences]]


def _load(name: str, device: str, seed: int) -> Any:
    from sentence_transformers import (
        SentenceTransformer,
    )  # seconds to import, which other commands need not wait

    with seeded_init(seed):
        return SentenceTransformer(
            name,
            device=device,
            **hub_arguments(name),
            trust_remote_code=False,
            model_kwargs={"dtype": torch.float32},
        )
