"""Adversarial pairs found once against a reference encoder and replayed on others: robustness at a score's price."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rse_study.data.pairs import StsPairs
from rse_study.evaluation.adversarial_sts import cosines_of
from rse_study.evaluation.cached_encoder import CachedEncoder
from rse_study.evaluation.sts import Embed, evaluate_sts
from rse_study.spec import fingerprint_of

FILE = "pairs.json"
FARTHEST = 2.0  # two cosines differ by at most that


@dataclass(frozen=True)
class ReplayedPairs:
    """`attacked` are `clean` under attack, pair by pair, with the same gold: by `recipe`, a label, of `reference`."""

    clean: StsPairs
    attacked: StsPairs
    recipe: str
    reference: str

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


def _pairs(content: dict[str, Any], name: str, gold: np.ndarray) -> StsPairs:
    first, second = content[name]
    return StsPairs(content["task"], content["split"], first, second, gold)


@dataclass(frozen=True)
class ReplayedScores:
    """All x100. `spearman` on the attacked pairs; `drop`: clean minus that; `drift`: mean |cos(x') - cos(x)|.

    `degenerate`: embeddings were constant or not finite, clean or attacked. No search may take such an encoder for
    steady, though nothing moves it: its drift is the largest there is.
    """

    spearman: float
    drift: float
    drop: float
    degenerate: bool


def replay(embed: Embed, pairs: ReplayedPairs) -> ReplayedScores:
    """The same adversarial pairs for every encoder. A collapsed encoder scores 0, and is marked."""
    remembered, sides = CachedEncoder(embed), (pairs.clean, pairs.attacked)
    clean, attacked = (row for row in evaluate_sts(remembered, sides) if row.aggregation == "all")
    before, now = (cosines_of(remembered, list(zip(side.first, side.second, strict=True))) for side in sides)
    degenerate = clean.degenerate or attacked.degenerate
    drift = FARTHEST if degenerate else float(np.abs(now - before).mean())
    return ReplayedScores(attacked.spearman, 100 * drift, clean.spearman - attacked.spearman, degenerate)


def as_metrics(scores: ReplayedScores) -> dict[str, float]:
    """As a trial's history has them: robust/spearman, robust/drift, ..."""
    return {f"robust/{name}": float(value) for name, value in asdict(scores).items()}
