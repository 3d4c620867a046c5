"""What every system of the papers offers the training loop."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from rse_study.collectives import Collectives
from rse_study.data.batches import Batch
from rse_study.data.synonyms import Synonyms
from rse_study.methods.cost import StepCost
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.rtd import Discriminator, Generator
from rse_study.streams import Streams


class Networks(nn.Module):
    """Everything that is trained: the encoder, its training-only head, and D where RTD runs."""

    discriminator: Discriminator | None

    def __init__(
        self, encoder: SentenceEncoder, head: nn.Module, discriminator: Discriminator | None = None
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.head: Any = head
        self.discriminator = discriminator


@dataclass(frozen=True)
class RunContext:
    """What stays the same over all steps of a run on this worker."""

    streams: Streams
    collectives: Collectives
    autocast: Callable[[], AbstractContextManager[object]]
    generator: Generator | None = None
    synonyms: Synonyms | None = None

    def dropout(self, step: int, pass_name: str, device: torch.device) -> AbstractContextManager[None]:
        """The dropout stream of one pass on this worker."""
        return self.streams.dropout(step, pass_name, self.collectives.rank, device)


@dataclass(frozen=True)
class Mean:
    """A mean on its way: its numerator and denominator on this worker."""

    total: Tensor
    count: Tensor | float

    @staticmethod
    def over(values: Float[Tensor, " n"]) -> "Mean":
        """The mean of one value a thing (sentence, token, coordinate), whichever worker holds it."""
        return Mean(values.detach().sum(), float(len(values)))


@dataclass(frozen=True)
class StepOutcome:
    """This worker's share of the global loss (shares add up), and what can be reported."""

    loss: Float[Tensor, ""]
    metrics: dict[str, Mean] = field(default_factory=dict)


@runtime_checkable
class Method(Protocol):
    """A training method. Configured object and method are one; run-level state is a dict of tensors."""

    @property
    def name(self) -> str: ...
    @property
    def generator(self) -> str: ...  # the masked LM it needs, by name; "" where it needs none
    @property
    def num_sites(self) -> int: ...  # outputs of the encoder it weakens
    @property
    def needs_synonyms(self) -> bool: ...
    @property
    def needs_mask(self) -> bool: ...  # the encoder's tokenizer must have [MASK]
    @property
    def cost(self) -> StepCost: ...
    def networks(self, encoder: SentenceEncoder, streams: Streams, collectives: Collectives) -> Networks: ...
    def state(self, networks: Networks, streams: Streams, epoch: int = 0) -> dict[str, Tensor]: ...
    def renew(
        self, state: dict[str, Tensor], networks: Networks, streams: Streams, epoch: int
    ) -> dict[str, Tensor]: ...
    def step(
        self, networks: Networks, state: dict[str, Tensor], batch: Batch, run: RunContext, step: int
    ) -> StepOutcome: ...
    def after(self, networks: Networks) -> None: ...  # once the optimiser has moved the weights
