"""The reference of replayed attacks: the encoder against which they are made."""

from dataclasses import dataclass

from rse_study.assets.fingerprint import fingerprint_of_model
from rse_study.assets.minilm import packaged
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder
from rse_study.training.trial import Encoder, Replayed


@dataclass(frozen=True)
class Reference:
    """An encoder's folder or hub name, read with a trial's own pooling and template."""

    name: str
    """folder or hub name"""
    revision: str
    """branch, tag or commit on the hub"""
    encoder: Encoder
    """the trial's, for its pooling and template"""

    @classmethod
    def of(cls, replayed: Replayed, base: str, encoder: Encoder) -> "Reference":
        """The reference that a study names.

        Parameters
        ----------
        replayed
            Names it: base, minilm, a folder or a hub name.
        base
            Folder or hub name that `reference: base` stands for.
        encoder
            The trial's, with its pooling and template.
        """
        is_base = replayed.reference == "base"
        if is_base:
            return cls(base, encoder.revision, encoder)
        return cls(packaged(replayed.reference), "main", encoder)

    def key(self) -> dict[str, str]:
        """What decides its vectors."""
        return {
            "reference": fingerprint_of_model(self.name, self.revision),
            "pooling": self.encoder.pooling,
            "template": self.encoder.template,
        }

    def load(self) -> Embedder:
        """Load the reference encoder, which then turns sentences into vectors."""
        return Embedder(*load_encoder(self.name, self.encoder.pooling, self.revision), self.encoder.template)
