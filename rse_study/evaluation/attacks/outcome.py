"""The outcome of an attack on one input."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from rse_study.data.labelled import Text
from rse_study.evaluation.attacks.goals import Gold

AttackVerdict = Literal["succeeded", "failed", "skipped"]


@dataclass(frozen=True)
class AttackOutcome:
    """The outcome of an attack on one input: one line in the file of outcomes."""

    index: int
    original: Text
    adversarial: Text
    """the best text found, even if it misses the goal; the original if skipped"""
    outcome: AttackVerdict
    label: Gold
    original_scores: tuple[float, ...]
    adversarial_scores: tuple[float, ...]
    num_queries: int
    num_words: int
    changed: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()
        }
