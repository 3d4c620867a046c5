"""A victim queried in full batches, with cached outputs and counted queries."""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from rse_study.data.labelled import Text
from rse_study.errors import InputError
from rse_study.evaluation.attacks.goals import VictimOutput
from rse_study.tensors import Float

Victim = Callable[[Sequence[Text]], Float[np.ndarray, "n c"]]
"""Maps texts to probabilities or scores; a row depends on its own text alone."""

_MAX_CACHED = 2**17  # outputs; the oldest are dropped first


class CountedVictim:
    """Counts queries per input, up to `max_queries`; cached answers count, too."""

    def __init__(self, victim: Victim, *, batch_size: int, max_queries: int) -> None:
        assert batch_size > 0 and max_queries > 0
        self.batch_size, self.max_queries = batch_size, max_queries
        self.num_queries: Counter[int] = Counter()
        self.num_calls = self.num_texts = 0
        self._victim, self._answers = victim, dict[bytes, VictimOutput]()

    def admit(self, index: int, wanted: int) -> int:
        """Return how many of the wanted queries the input may still make, and count them."""
        admitted = min(wanted, self.max_queries - self.num_queries[index])
        self.num_queries[index] += admitted
        return admitted

    def cached(self, text: Text) -> VictimOutput | None:
        return self._answers.get(_key(text))

    def forward(self, texts: Sequence[Text]) -> list[VictimOutput]:
        """Run one forward pass, or raise InputError for rows that are not finite."""
        assert 0 < len(texts) <= self.batch_size
        self.num_calls += 1
        self.num_texts += len(texts)
        rows = np.asarray(self._victim(texts), np.float64)
        if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
            rule = f"{len(texts)} texts need as many rows of finite numbers"
            oddity = "all finite" if np.isfinite(rows).all() else "NaN or infinities among them"
            raise InputError(f"shape {rows.shape}, {oddity}", where="the victim", rule=rule)
        for text, row in zip(texts, rows, strict=True):
            self._answers[_key(text)] = row.copy()
        while len(self._answers) > _MAX_CACHED:
            del self._answers[next(iter(self._answers))]
        return list(rows)


def _key(text: Text) -> bytes:
    # A hash: ten thousand variants of a text of ten thousand words would fill the memory.
    digest = hashlib.blake2b(digest_size=16)
    for part in text:
        digest.update(part.encode("utf-8", "surrogatepass") + b"\xff")  # a byte that UTF-8 never contains
    return digest.digest()
