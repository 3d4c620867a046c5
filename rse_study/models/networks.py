"""Everything that is trained, as one module."""

from typing import Any

from torch import nn

from rse_study.models.encoder import SentenceEncoder
from rse_study.models.rtd import Discriminator


class Networks(nn.Module):
    """Everything that is trained: encoder, training-only head, and D for RTD."""

    discriminator: Discriminator | None

    def __init__(
        self, encoder: SentenceEncoder, head: nn.Module, discriminator: Discriminator | None = None
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.head: Any = head
        self.discriminator = discriminator
