"""The base class of what methods train."""

from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from rse_study.data.batches import Batch
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.rtd import Discriminator


class Networks(nn.Module):
    """All trained parts: encoder, training-only head, and D for RTD."""

    discriminator: Discriminator | None

    def __init__(
        self, encoder: SentenceEncoder, head: nn.Module, discriminator: Discriminator | None = None
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.head: Any = head
        self.discriminator = discriminator

    def project(
        self, points: Float[Tensor, "b l e"], batch: Batch, moments: Any = None, weights: Any = ()
    ) -> tuple[Float[Tensor, "b d"], Any]:
        """Return z of word embeddings, in their precision, and the head's moments."""
        pooled = self.encoder(points, batch.mask, batch.ids, weights, places=batch.real_places)
        z, used = self.head(pooled, moments)
        return z.to(points.dtype), used

    def project_views(
        self, points: Float[Tensor, "n l e"], rows: Batch, weights: Any = ()
    ) -> tuple[Float[Tensor, "b d"], Float[Tensor, "b d"], Any]:
        """Return z of two views, one below the other, and the first's moments."""
        pooled = self.encoder(points, rows.mask, rows.ids, weights, places=rows.real_places)
        (first, moments), (second, _) = (self.head(view) for view in pooled.chunk(2))
        return first.to(points.dtype), second.to(points.dtype), moments
