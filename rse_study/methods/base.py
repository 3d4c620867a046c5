"""What methods share: a base that adds nothing, and one with a contrastive loss.

A method overrides what it does.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import PositiveFloat

from rse_study.collectives import Collectives
from rse_study.data.batches import Batch
from rse_study.losses.info_nce import info_nce
from rse_study.methods.method import Networks, RunContext
from rse_study.models import SentenceEncoder, build_head
from rse_study.models.kinds import HeadKind
from rse_study.spec import Spec, field
from rse_study.streams import Streams
from rse_study.tensors import Float, Tensor


@dataclass(frozen=True)
class MethodSource:
    """Where a method comes from, as docs/methods.md says it."""

    paper: str
    """its name"""
    equations: str
    """those that the code follows"""
    decisions: tuple[str, ...] = ()
    """records below docs/decisions, without .md, that say where we read it otherwise"""


class MethodBase(Spec):
    """A method that generates nothing, weakens nothing and carries no state.

    Nothing moves but what the optimiser moves.
    """

    source: ClassVar[MethodSource]

    @property
    def generator(self) -> str:
        """None: nothing is generated."""
        return ""

    @property
    def generator_settings(self) -> dict[str, Any]:
        """None: nothing is generated."""
        return {}

    @property
    def num_sites(self) -> int:
        """No output of the encoder is weakened."""
        return 0

    @property
    def needs_synonyms(self) -> bool:
        """Nothing is replaced by synonyms."""
        return False

    @property
    def needs_mask(self) -> bool:
        """No token is hidden behind [MASK]; a generator has a [MASK] of its own."""
        return False

    def state(self, networks: Networks, streams: Streams, epoch: int = 0) -> dict[str, Tensor]:
        """Return nothing: no tensor goes on from batch to batch.

        Parameters
        ----------
        networks, streams, epoch
            What a method with a state starts it from.
        """
        return {}

    def renew(
        self, state: dict[str, Tensor], networks: Networks, streams: Streams, epoch: int
    ) -> dict[str, Tensor]:
        """Return the state as it is: nothing changes from epoch to epoch.

        Parameters
        ----------
        state
            What went on so far.
        networks, streams, epoch
            What a method with a state renews it from.
        """
        return state

    def after(self, networks: Networks) -> None:
        """Nothing moves but what the optimiser moves."""


class ContrastiveMethod(MethodBase):
    """A method with encoder, training-only head and temperature.

    A subclass says what one step is.
    """

    temperature: PositiveFloat = field(0.05, symbol="tau")
    """what cosines are divided by in L_con"""
    head: HeadKind = "linear_tanh"
    """map of the pooled vector to z in training; evaluation drops it"""

    def networks(self, encoder: SentenceEncoder, streams: Streams, collectives: Collectives) -> Networks:
        """Return encoder and training-only head (stream `init`).

        Parameters
        ----------
        encoder
            What is trained.
        streams, collectives
            Of the run.
        """
        generator = streams.generator("init", 0)
        return Networks(encoder, build_head(self.head, encoder.hidden_size, generator, collectives))

    def contrastive(
        self, z: Float[Tensor, "b d"], z_pos: Float[Tensor, "b d"], batch: Batch, run: RunContext
    ) -> Float[Tensor, " b"]:
        """Return L_con of this worker's anchors against the global batch's second views.

        The gradient reaches both views.

        Parameters
        ----------
        z, z_pos
            First and second views of this worker's rows.
        batch, run
            Which rows of the global batch these are, and the workers that share it.
        """
        own = batch.rows[:, None] == run.collectives.gather(batch.rows)[None, :]
        return info_nce(z, z_pos[None], run.collectives.gather(z_pos), own, self.temperature)
