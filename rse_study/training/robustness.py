"""Robustness as a look at a trial measures it: attacks that were found once, replayed on the encoder as it is."""

from dataclasses import dataclass
from pathlib import Path

from rse_study.evaluation.evaluations import FrozenEvaluation
from rse_study.evaluation.replayed import ReplayedAttack, ReplayedPairs
from rse_study.evaluation.replayed_texts import ReplayedTextAttack, ReplayedTexts
from rse_study.evaluation.vectors import Embed
from rse_study.training.materials import Materials

DEGENERATE = "robust/degenerate"


@dataclass(frozen=True)
class ReplayedAttacks:
    """What is replayed; None: nothing of that kind."""

    pairs: ReplayedPairs | None = None
    texts: ReplayedTexts | None = None

    @classmethod
    def open(cls, materials: Materials) -> "ReplayedAttacks":
        """Read from the folders of the materials."""
        pairs, texts = materials.replayed, materials.replayed_texts
        return cls(
            ReplayedPairs.open(Path(pairs)) if pairs else None,
            ReplayedTexts.open(Path(texts)) if texts else None,
        )

    def metrics(self, embed: Embed) -> dict[str, float]:
        """robust/...; `degenerate` where pairs or texts found the encoder collapsed. Nothing is drawn."""
        attacks: list[FrozenEvaluation] = []
        if self.pairs:
            attacks.append(ReplayedAttack(self.pairs))
        if self.texts:
            attacks.append(ReplayedTextAttack(self.texts))
        metrics: dict[str, float] = {}
        for attack in attacks:
            rows = attack.score(embed, "")
            metrics |= {f"robust/{row.aggregation}": row.value for row in rows}
            metrics[DEGENERATE] = max(metrics.get(DEGENERATE, 0.0), *(float(row.degenerate) for row in rows))
        return metrics
