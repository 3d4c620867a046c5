"""Adversarial pairs made once against a reference encoder, and replayed.

Every encoder is judged by the same pairs: robustness at the price of a score.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rse_study.data.pairs import StsPairs
from rse_study.evaluation.adversarial_sts import cosines_of
from rse_study.evaluation.cached_encoder import CachedEncoder
from rse_study.evaluation.sts import evaluate_sts
from rse_study.evaluation.vectors import Embed
from rse_study.results.records import EvaluationRow, Measure
from rse_study.spec import fingerprint_of

FILE = "pairs.json"
PRESET = "replayed"
FARTHEST = 2.0
"""Two cosines differ by at most that."""


@dataclass(frozen=True)
class ReplayedPairs:
    """Pairs, clean and attacked, with the same gold."""

    clean: StsPairs
    attacked: StsPairs
    """`clean` under attack, pair by pair."""
    recipe: str
    """Label of the attack."""
    reference: str
    """The encoder that was attacked."""

    @property
    def fingerprint(self) -> str:
        """sha256 (hex) of all texts and gold."""
        return fingerprint_of([self.clean.fingerprint, self.attacked.fingerprint])

    def save(self, folder: Path) -> None:
        """Write to a folder that is there."""
        sides = {
            name: [p.first, p.second] for name, p in (("clean", self.clean), ("attacked", self.attacked))
        }
        content = {
            "task": self.clean.name,
            "split": self.clean.split,
            "gold": self.clean.gold.tolist(),
            "recipe": self.recipe,
            "reference": self.reference,
            **sides,
        }
        (folder / FILE).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def open(cls, folder: Path) -> "ReplayedPairs":
        """What `save` wrote."""
        content = json.loads((folder / FILE).read_text(encoding="utf-8"))
        gold = np.array(content["gold"], np.float64)
        clean, attacked = (_pairs(content, name, gold) for name in ("clean", "attacked"))
        return cls(clean, attacked, content["recipe"], content["reference"])


@dataclass(frozen=True)
class ReplayedAttack:
    """Similarity under the attack, all x100: `spearman`, `drop` and `drift`.

    `drop` is the clean pairs' Spearman minus the attacked ones', `drift` the mean |cos(x') - cos(x)|.
    """

    pairs: ReplayedPairs

    @property
    def name(self) -> str:
        """Task/replayed."""
        return f"{self.pairs.clean.name}/{PRESET}"

    @property
    def fingerprint(self) -> str:
        """Of clean and attacked pairs."""
        return self.pairs.fingerprint

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Spearman under attack, and drift."""
        return (
            Measure(name=f"{self.name} Spearman", metric=f"{self.name}/spearman"),
            Measure(name=f"{self.name} drift", metric=f"{self.name}/drift", direction="minimize"),
        )

    @property
    def num_sentences(self) -> int:
        """Both sides, clean and attacked."""
        return 4 * len(self.pairs.clean)

    def score(self, embed: Embed, subject: str) -> list[EvaluationRow]:
        """A row a figure: the same adversarial pairs for every encoder.

        Degenerate where embeddings are constant or not finite, clean or attacked. No search may take such an encoder
        for steady, though nothing moves it: its Spearman is 0, and its drift the largest there is.
        """
        cached, sides = CachedEncoder(embed), (self.pairs.clean, self.pairs.attacked)
        clean, attacked = (row for row in evaluate_sts(cached, sides) if row.aggregation == "all")
        before, now = (cosines_of(cached, list(zip(side.first, side.second, strict=True))) for side in sides)
        degenerate = clean.degenerate or attacked.degenerate
        drift = FARTHEST if degenerate else float(np.abs(now - before).mean())
        figures = {"spearman": attacked.value, "drift": 100 * drift, "drop": clean.value - attacked.value}
        return [
            EvaluationRow(
                subject=subject,
                task=self.pairs.clean.name,
                split=self.pairs.clean.split,
                aggregation=name,
                value=value,
                num_examples=len(self.pairs.clean),
                degenerate=degenerate,
                fingerprint=self.fingerprint,
                preset=PRESET,
            )
            for name, value in figures.items()
        ]


def _pairs(content: dict[str, Any], name: str, gold: np.ndarray) -> StsPairs:
    first, second = content[name]
    return StsPairs(content["task"], content["split"], first, second, gold)
