"""Base classes of methods: one that adds nothing, and one with a contrastive loss."""

from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import PositiveFloat

from rse_study.collectives import Collectives
from rse_study.data.batches import Batch
from rse_study.losses.info_nce import info_nce
from rse_study.losses.terms import TERMS
from rse_study.methods.method import Networks, RunContext
from rse_study.models import SentenceEncoder, build_head
from rse_study.models.kinds import HeadKind
from rse_study.results.manipulation import Checks
from rse_study.spec import Spec, field
from rse_study.streams import Streams
from rse_study.tensors import Float, Tensor


@dataclass(frozen=True)
class MethodSource:
    """The source of a method, as docs/methods.md prints it."""

    paper: str
    equations: str
    decisions: tuple[str, ...] = ()
    """records in docs/decisions, without .md, on where we depart from it"""


class MethodBase(Spec):
    """A method that generates nothing, weakens nothing and carries no state."""

    source: ClassVar[MethodSource]
    checks: ClassVar[Checks] = ()

    @property
    def generator(self) -> str:
        return ""

    @property
    def generator_settings(self) -> dict[str, Any]:
        return {}

    @property
    def num_sites(self) -> int:
        return 0

    @property
    def needs_synonyms(self) -> bool:
        return False

    @property
    def needs_mask(self) -> bool:
        return False

    @property
    def unrecordable(self) -> str:
        return "it does not say whether its step is a function of tensors, with draws by Batch.drawn alone"

    def foreseen(self, batch_size: int) -> dict[str, float]:
        """Return the most that its checks can be, by metric, L_con being at chance."""
        return {}

    def state(self, networks: Networks, streams: Streams, epoch: int = 0) -> dict[str, Tensor]:
        return {}

    def renew(
        self, state: dict[str, Tensor], networks: Networks, streams: Streams, epoch: int
    ) -> dict[str, Tensor]:
        return state

    def after(self, networks: Networks) -> None:
        """Do nothing: only the optimiser moves weights."""


class ContrastiveMethod(MethodBase):
    """A method with a training-only head and a temperature; subclasses define a step."""

    checks: ClassVar = TERMS["contrastive"]
    temperature: PositiveFloat = field(0.05, symbol="tau")
    """what cosines are divided by in L_con"""
    head: HeadKind = "linear_tanh"
    """map of the pooled vector to z in training; evaluation drops it"""

    def networks(self, encoder: SentenceEncoder, streams: Streams, collectives: Collectives) -> Networks:
        generator = streams.generator("init", 0)
        return Networks(encoder, build_head(self.head, encoder.hidden_size, generator, collectives))

    def contrastive(
        self, z: Float[Tensor, "b d"], z_pos: Float[Tensor, "b d"], batch: Batch, run: RunContext
    ) -> Float[Tensor, " b"]:
        """Return L_con of this worker's anchors against the global batch's second views."""
        own = batch.rows[:, None] == run.collectives.gather(batch.rows)[None, :]
        return info_nce(z, z_pos[None], run.collectives.gather(z_pos), own, self.temperature)
