"""What every system of the papers offers the training loop."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from rse_study.collectives import Collectives
from rse_study.data.batches import Batch
from rse_study.data.synonyms import Synonyms
from rse_study.methods.cost import StepCost
from rse_study.models import Generator, GeneratorOutputs, Networks, SentenceEncoder
from rse_study.streams import Streams
from rse_study.tensors import Bool, Float, Tensor, torch


@dataclass(frozen=True)
class RunContext:
    """What stays the same over all steps of a run on this worker."""

    streams: Streams
    collectives: Collectives
    autocast: Callable[[], AbstractContextManager[object]]
    generator: Generator | None = None
    synonyms: Synonyms | None = None
    outputs: GeneratorOutputs | None = None
    """what the generator made in other cells; None: it makes everything"""

    def dropout(self, step: int, pass_name: str, device: "torch.device") -> AbstractContextManager[None]:
        """Seed dropout for one pass on this worker.

        Parameters
        ----------
        step
            Optimiser step, counted from 0.
        pass_name
            Passes of one name in one step share their masks.
        device
            Where the pass runs.
        """
        return self.streams.dropout(step, pass_name, self.collectives.rank, device)


@dataclass(frozen=True)
class Mean:
    """A mean on its way: its numerator and denominator on this worker."""

    total: Tensor
    count: Tensor | float

    @staticmethod
    def over(values: Float[Tensor, " n"]) -> "Mean":
        """Return the mean of one value a thing, whichever worker holds it.

        A thing is a sentence, a token or a coordinate.
        """
        return Mean(values.detach().sum(), float(len(values)))

    @staticmethod
    def among(values: Tensor, counted: Bool[Tensor, "*shape"]) -> "Mean":
        """Return the mean of those that are counted."""
        kept = values.detach().to(torch.promote_types(values.dtype, torch.float32)).masked_fill(~counted, 0)
        return Mean(kept.sum(), counted.sum())


@dataclass(frozen=True)
class StepOutcome:
    """This worker's share of the global loss, and what can be reported.

    Shares of all workers add up.
    """

    loss: Float[Tensor, ""]
    metrics: dict[str, Mean] = field(default_factory=dict)


@runtime_checkable
class Method(Protocol):
    """A training method: the configured object is the method.

    Run-level state is a dict of tensors: it goes in and comes out.
    """

    @property
    def name(self) -> str:
        """The name that tells methods apart in a configuration."""
        ...

    @property
    def generator(self) -> str:
        """The masked LM it needs, by name; empty where it needs none."""
        ...

    @property
    def generator_settings(self) -> dict[str, Any]:
        """What decides the generator's outputs, besides batch, generator and seed."""
        ...

    @property
    def num_sites(self) -> int:
        """Outputs of the encoder that it weakens, the embedding block's first."""
        ...

    @property
    def needs_synonyms(self) -> bool:
        """Whether words are replaced by WordNet synonyms."""
        ...

    @property
    def needs_mask(self) -> bool:
        """Whether the encoder's tokenizer must have [MASK]."""
        ...

    @property
    def cost(self) -> StepCost:
        """What one step computes."""
        ...

    def networks(self, encoder: SentenceEncoder, streams: Streams, collectives: Collectives) -> Networks:
        """Return everything that is trained.

        Parameters
        ----------
        encoder
            The base encoder.
        streams
            Whose stream `init` new weights are drawn from.
        collectives
            The workers that share a batch.
        """
        ...

    def state(self, networks: Networks, streams: Streams, epoch: int = 0) -> dict[str, Tensor]:
        """Return the tensors that go on from batch to batch, as they start.

        Parameters
        ----------
        networks
            Before the first step.
        streams
            What is drawn comes from.
        epoch
            Counted from 0.
        """
        ...

    def renew(
        self, state: dict[str, Tensor], networks: Networks, streams: Streams, epoch: int
    ) -> dict[str, Tensor]:
        """Return the state at the start of a later epoch.

        Parameters
        ----------
        state
            At the end of the epoch before.
        networks, streams
            As for `state`.
        epoch
            Counted from 0.
        """
        ...

    def step(
        self, networks: Networks, state: dict[str, Tensor], batch: Batch, run: RunContext, step: int
    ) -> StepOutcome:
        """Return this worker's share of the loss of one global batch.

        Parameters
        ----------
        networks
            What is trained.
        state
            Changed in place where the method says so.
        batch
            This worker's rows of the global batch.
        run
            What stays the same over all steps.
        step
            Optimiser step, counted from 0.
        """
        ...

    def after(self, networks: Networks) -> None:
        """Do what follows once the optimiser has moved the weights."""
        ...
