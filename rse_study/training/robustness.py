"""Robustness as a look at a trial measures it: attacks that were found once, replayed on the encoder as it is."""

from dataclasses import dataclass
from pathlib import Path

from rse_study.evaluation import replayed, replayed_texts
from rse_study.evaluation.replayed import ReplayedPairs
from rse_study.evaluation.replayed_texts import ReplayedTexts
from rse_study.evaluation.sts import Embed
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
        found = [replayed.as_metrics(replayed.replay(embed, self.pairs))] if self.pairs else []
        if self.texts:
            found.append(replayed_texts.as_metrics(replayed_texts.replay_texts(embed, self.texts)))
        if not found:
            return {}
        metrics = {name: value for part in found for name, value in part.items()}
        return metrics | {DEGENERATE: max(part[DEGENERATE] for part in found)}
