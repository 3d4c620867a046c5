"""The base class of what methods train."""

from typing import Any

from torch import nn

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
