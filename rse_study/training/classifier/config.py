"""What a fine-tuning begins with, and everything that decides its numbers."""

from dataclasses import dataclass
from typing import Any

from rse_study.models.pooling import PoolingKind
from rse_study.training.classifier.data import Supervised
from rse_study.training.classifier.spec import FineTuning


@dataclass(frozen=True)
class Start:
    """The encoder a fine-tuning begins with; `fingerprint` says by content which one."""

    name: str  # folder or hub name
    pooling: PoolingKind
    fingerprint: str
    revision: str = "main"


def identity_of_tuning(
    spec: FineTuning, seed: int, start: Start, training: Supervised, dev: Supervised | None
) -> dict[str, Any]:
    """Everything that decides the numbers."""
    return {
        "spec": spec.identity(),
        "seed": seed,
        "base": start.fingerprint,
        "pooling": start.pooling,
        "training": training.fingerprint,
        "dev": dev.fingerprint if dev is not None else "",
    }
