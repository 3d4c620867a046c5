"""Adversarial pairs made once against a reference encoder, replayed on every one."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rse_study.data.pairs import StsPairs
from rse_study.evaluation.adversarial_sts import cosines_of
from rse_study.evaluation.evaluations import evaluation_row
from rse_study.evaluation.sts import evaluate_sts
from rse_study.evaluation.vectors import CachedEncoder, Embed
from rse_study.results.item_scores import ItemScores
from rse_study.results.records import EvaluationRow, Measure
from rse_study.spec import fingerprint_of

FILE = "pairs.json"
PRESET = "replayed"
FARTHEST = 2.0
"""The largest difference of two cosines."""


@dataclass(frozen=True)
class ReplayedPairs:
    """Pairs before and after an attack, with the same gold scores."""

    clean: StsPairs
    attacked: StsPairs
    recipe: str
    reference: str

    @property
    def fingerprint(self) -> str:
        return fingerprint_of([self.clean.fingerprint, self.attacked.fingerprint])

    def save(self, folder: Path) -> None:
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
        content = json.loads((folder / FILE).read_text(encoding="utf-8"))
        gold = np.array(content["gold"], np.float64)
        clean, attacked = (_pairs(content, name, gold) for name in ("clean", "attacked"))
        return cls(clean, attacked, content["recipe"], content["reference"])


@dataclass(frozen=True)
class ReplayedAttack:
    """Similarity under attack, all x100: `spearman`, `drop` and `drift`.

    `drop` is the Spearman of the clean pairs minus that of the attacked ones, `drift` the mean |cos(x') -
    cos(x)|.
    """

    pairs: ReplayedPairs

    @property
    def name(self) -> str:
        return f"{self.pairs.clean.name}/{PRESET}"

    @property
    def fingerprint(self) -> str:
        return self.pairs.fingerprint

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (
            Measure(name=f"{self.name} Spearman", metric=f"{self.name}/spearman"),
            Measure(name=f"{self.name} drift", metric=f"{self.name}/drift", direction="minimize"),
        )

    @property
    def num_sentences(self) -> int:
        return 4 * len(self.pairs.clean)

    def score(self, embed: Embed, subject: str) -> list[EvaluationRow]:
        """Return a row per figure; collapsed encoders get Spearman 0, the largest drift."""
        cached, sides = CachedEncoder(embed), (self.pairs.clean, self.pairs.attacked)
        clean, attacked = (row for row in evaluate_sts(cached, sides) if row.aggregation == "all")
        before, now = (cosines_of(cached, list(zip(side.first, side.second, strict=True))) for side in sides)
        degenerate = clean.degenerate or attacked.degenerate
        drift = FARTHEST if degenerate else float(np.abs(now - before).mean())
        items = {"spearman": attacked.items, "drift": ItemScores.of(100 * np.abs(now - before))}
        figures = {"spearman": attacked.value, "drift": 100 * drift, "drop": clean.value - attacked.value}
        return [
            evaluation_row(
                self,
                subject,
                self.pairs.clean.split,
                name,
                value,
                len(self.pairs.clean),
                degenerate=degenerate,
                items=None if degenerate else items.get(name),
            )
            for name, value in figures.items()
        ]


def _pairs(content: dict[str, Any], name: str, gold: np.ndarray) -> StsPairs:
    first, second = content[name]
    return StsPairs(content["task"], content["split"], first, second, gold)
