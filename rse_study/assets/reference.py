"""The reference encoder that replayed attacks are made against."""

from dataclasses import dataclass
from pathlib import Path

from rse_study.assets.fingerprint import fingerprint_of_model
from rse_study.assets.minilm import packaged
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder
from rse_study.training.trial import Encoder, Replayed


@dataclass(frozen=True)
class Reference:
    """An encoder read with a trial's own pooling and template."""

    name: str
    """folder or hub name"""
    revision: str
    encoder: Encoder
    """supplies pooling and template"""

    @classmethod
    def of(cls, replayed: Replayed, base: str, encoder: Encoder, *folders: Path) -> "Reference":
        """Resolve the reference a study names: base, minilm, a folder or a hub name."""
        is_base = replayed.reference == "base"
        if is_base:
            return cls(base, encoder.revision, encoder)
        return cls(packaged(replayed.reference, *folders), "main", encoder)

    def key(self) -> dict[str, str]:
        return {
            "reference": fingerprint_of_model(self.name, self.revision),
            "pooling": self.encoder.pooling,
            "template": self.encoder.template,
        }

    def load(self) -> Embedder:
        return Embedder(*load_encoder(self.name, self.encoder.pooling, self.revision), self.encoder.template)
