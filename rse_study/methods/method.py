"""The base class of training methods, and what they are given and return."""

import dataclasses
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import PositiveFloat

from rse_study.data.batches import Batch, Synonyms
from rse_study.losses import TERMS, info_nce
from rse_study.models import Generator, GeneratorOutputs, Networks, SentenceEncoder, build_head
from rse_study.models.pooling import HeadKind, PoolingKind
from rse_study.results.manipulation import Checks
from rse_study.spec import Spec, field
from rse_study.streams import Streams
from rse_study.tensors import Bool, Collectives, Float, Tensor, torch

# In P*T, P = encoder parameters without embeddings, T = tokens of one view of the batch. A forward pass is 2 (one
# multiplication and one addition a parameter), a backward pass to the inputs alone another 2, to inputs and weights 4.
FORWARD = 2.0
ASCENT = FORWARD + 2.0
TRAINED = FORWARD + 4.0


@dataclass(frozen=True)
class StepCost:
    """Passes of one step."""

    ascent: int
    num_views: int
    detects: bool = False
    clean: int = 0
    """passes of a view without gradient"""
    views_per_ascent: int = 1
    """views of the batch in each pass of the inner loop"""
    num_shared: int = 0
    """views of the inner loop whose pass is also that of the last gradient"""
    num_encoders: int = 1
    """encoders that are trained, each on all the views"""

    @property
    def gradient_passes(self) -> int:
        return self.ascent + 1

    @property
    def work(self) -> float:
        """Floating-point operations in P*T: RobustSentEmbed takes 4 N + 20, SimCSE 12.

        4 N + 20: z_pos once, three views. RTD adds 8: D is trained, G reads once. Heads, losses and
        projections are not counted.
        """
        detection = (TRAINED + FORWARD) * self.detects
        inner = ASCENT * self.ascent * self.views_per_ascent + FORWARD * (self.clean - self.num_shared)
        return inner + TRAINED * self.num_views * self.num_encoders + detection

    def repeated(self, batch_size: int, chunk_size: int) -> float:
        """Return the operations, in P*T, that passes split into chunks compute twice."""
        if chunk_size == 0:
            return 0.0
        passes = (
            (self.views_per_ascent, self.ascent * self.views_per_ascent),
            (self.num_views, self.num_views * self.num_encoders),
            (1, int(self.detects)),
        )
        return FORWARD * sum(views for rows, views in passes if chunk_size < rows * batch_size)


@dataclass(frozen=True)
class RunContext:
    """Everything on this worker that stays the same over the steps of a run."""

    streams: Streams
    collectives: Collectives
    autocast: Callable[[], AbstractContextManager[object]]
    generator: Generator | None = None
    synonyms: Synonyms | None = None
    outputs: GeneratorOutputs | None = None
    """the generator's outputs in other cells; None: compute everything"""
    is_reported: bool = False
    """whether the history has a point after this step: only then are manipulation checks computed"""
    seeds_passes: bool = True
    """whether every pass seeds its dropout; False: the step has done it, for all"""

    def dropout(self, step: int, pass_name: str, device: "torch.device") -> AbstractContextManager[None]:
        """Seed dropout for one pass; passes of one name in one step share their masks."""
        if not self.seeds_passes:
            return nullcontext()
        return self.streams.dropout(step, pass_name, self.collectives.rank, device)

    def own(self, batch: Batch) -> Bool[Tensor, "b g"]:
        """Mark the column of the global batch that is a row's own sentence."""
        return batch.rows[:, None] == self.collectives.gather(batch.rows)[None, :]

    def candidates(self, batch: Batch, z_pos: Tensor, *z_neg: Tensor) -> tuple[Tensor, Tensor]:
        """Return all candidates [g d], and mark each row's own z_pos [b g].

        They are z_pos and hard negatives of the global batch (Gao et al. 2021, eq 5).
        """
        own = self.own(batch)
        others = torch.cat([self.collectives.gather(one) for one in (z_pos, *z_neg)])
        return others, torch.cat([own, *[torch.zeros_like(own)] * len(z_neg)], dim=1)


@dataclass(frozen=True)
class Mean:
    """A mean before its reduction: this worker's numerator and denominator."""

    total: Tensor
    count: Tensor | float

    @staticmethod
    def over(values: Float[Tensor, " n"]) -> "Mean":
        return Mean(values.detach().sum(), float(len(values)))

    @staticmethod
    def among(values: Tensor, counted: Bool[Tensor, "*shape"]) -> "Mean":
        kept = values.detach().to(torch.promote_types(values.dtype, torch.float32)).masked_fill(~counted, 0)
        return Mean(kept.sum(), counted.sum())


@dataclass(frozen=True)
class StepOutcome:
    """Metrics, and this worker's share of the global loss: the shares add up."""

    loss: Float[Tensor, ""]
    metrics: dict[str, Mean] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class MethodSource:
    """The source of a method, as docs/methods.md prints it."""

    paper: str
    equations: str
    decisions: tuple[str, ...] = ()
    """records in docs/decisions, without .md, on where we depart from it"""


class Method(Spec):
    """A training method: the configured object itself; state goes in and comes out.

    Unless a method says otherwise it generates nothing, weakens nothing and carries no state.
    """

    source: ClassVar[MethodSource]
    checks: ClassVar[Checks] = ()
    """the manipulation checks of all its parts; a cell's history has those of the parts that are on"""
    needs_pooling: ClassVar[PoolingKind | None] = None
    """the only pooling of the encoder that it can train; None: it trains any"""
    takes_views: ClassVar[bool] = False
    """whether its step reads the paraphrases and hard negatives of `views` (Batch.texts)"""
    if TYPE_CHECKING:
        name: str = ""

    @property
    def generator(self) -> str:
        """Name of the masked LM it needs; empty if it needs none."""
        return ""

    @property
    def generator_settings(self) -> dict[str, Any]:
        """Settings that decide the generator's outputs, besides batch, generator and seed."""
        return {}

    @property
    def num_sites(self) -> int:
        """Number of encoder outputs that it weakens or reads, the embedding block's first."""
        return 0

    @property
    def needs_synonyms(self) -> bool:
        return False

    @property
    def needs_mask(self) -> bool:
        """Whether the encoder's tokenizer must have [MASK]; a generator has its own."""
        return False

    @property
    def unrecordable(self) -> str:
        """Say why its step cannot be recorded (`graphed: true`); empty if it can."""
        return "it does not say whether its step is a function of tensors, with draws by Batch.drawn alone"

    @property
    def cost(self) -> StepCost:
        raise NotImplementedError

    def foreseen(self, batch_size: int) -> dict[str, float]:
        """Return the most that its checks can be, by metric, L_con being at chance."""
        return {}

    def networks(self, encoder: SentenceEncoder, streams: Streams, collectives: Collectives) -> Networks:
        """Build everything that is trained; new weights come from the stream `init`."""
        raise NotImplementedError

    def state(self, networks: Networks, streams: Streams, epoch: int = 0) -> dict[str, Tensor]:
        """Return the initial tensors that go on from batch to batch."""
        return {}

    def renew(
        self, state: dict[str, Tensor], networks: Networks, streams: Streams, epoch: int
    ) -> dict[str, Tensor]:
        """Return the state at the start of a later epoch, counted from 0."""
        return state

    def step(
        self, networks: Networks, state: dict[str, Tensor], batch: Batch, run: RunContext, step: int
    ) -> StepOutcome:
        """Return this worker's share of the loss of one global batch, from its own rows.

        `step` is counted from 0. A method may change `state` in place.
        """
        raise NotImplementedError

    def after(self, networks: Networks) -> None:
        """Do nothing: only the optimiser moves weights."""


class ContrastiveMethod(Method):
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
        self, z: Float[Tensor, "b d"], z_pos: Tensor, batch: Batch, run: RunContext, *z_neg: Tensor
    ) -> Float[Tensor, " b"]:
        """Return L_con of this worker's anchors against the global batch's candidates."""
        assert len(z_neg) == len(batch.texts) - 2, "hard negatives are left out"
        return info_nce(z, z_pos[None], *run.candidates(batch, z_pos, *z_neg), self.temperature)
