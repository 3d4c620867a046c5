"""The one ascent loop, in which players move together so that a loss rises."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

from rse_study.data.batches import Batch
from rse_study.models.pooling import in_mode
from rse_study.results.manipulation import LIMITS, Checks, ManipulationCheck
from rse_study.tensors import Bool, Float, Int, Tensor, nn, torch

INNER_RISE: Checks = (
    ManipulationCheck("inner/rise", "the adversary", *LIMITS["inner/rise"], "the baseline with noise"),
)
"""Of every ascent: chance is ln(b) of L_con, and ln(2), its largest value, of a divergence."""


@dataclass(frozen=True)
class Anchor:
    """The word embeddings of one batch, which players perturb."""

    embeddings: Float[Tensor, "b l d"]
    batch: Batch
    """the batch, of which only perturbable tokens move"""
    step: int
    """optimiser step, counted from 0"""
    hidden_size: int = 0
    """features of hidden states; 0: as many as the word embeddings have"""

    @property
    def ids(self) -> Int[Tensor, "b l"]:
        return self.batch.ids

    @property
    def mask(self) -> Bool[Tensor, "b l"]:
        return self.batch.mask

    @property
    def perturbable(self) -> Bool[Tensor, "b l"]:
        return self.batch.perturbable


@dataclass(frozen=True)
class SiteMask:
    """Binary token and feature masks of one site (L2P-CSR eq 1), as float leaves."""

    tokens: Float[Tensor, "b l"]
    features: Float[Tensor, "b d"]

    def weights(self) -> Float[Tensor, "b l d"]:
        """Return (mask_i + mask_j) / 2 (L2P-CSR eq 2)."""
        return (self.tokens[:, :, None] + self.features[:, None, :]) / 2


@dataclass(frozen=True)
class Change:
    """An addition to word embeddings and masks on outputs, or the gradients of both."""

    addition: Float[Tensor, "b l d"] | None = None
    masks: tuple[SiteMask, ...] = ()

    def __add__(self, other: "Change") -> "Change":
        parts = [part for part in (self.addition, other.addition) if part is not None]
        return Change(sum(parts[1:], parts[0]) if parts else None, self.masks or other.masks)

    def __neg__(self) -> "Change":
        return Change(
            None if self.addition is None else -self.addition,
            tuple(SiteMask(-site.tokens, -site.features) for site in self.masks),
        )

    def weights(self) -> tuple[Tensor, ...]:
        """Return one weight tensor [b l d] per site, the embedding block first."""
        return tuple(site.weights() for site in self.masks)


@dataclass(frozen=True)
class Reach:
    """Bounds on an entry of a perturbation that follow from its configuration alone."""

    path: float
    start: float
    """largest absolute value of an entry at the start, at d = SMALLEST_WIDTH"""
    radius: float
    is_certain: bool = False
    """whether an entry whose gradient keeps its sign moves the whole path (sign steps)"""


@runtime_checkable
class Player(Protocol):
    """A perturbation in the ascent; it sees gradients, never a model.

    Its state goes in and comes out. `update` takes the gradient with respect to its change, and the step `t`,
    from 1. `num_steps` 0 means that it moves as long as the others do. `reach` is None if no entry is bounded
    by a length for linf: studies check it for values that saturate the bound. `checks` say what must move for it
    to be alive.
    """

    checks: ClassVar[Checks]

    @property
    def num_steps(self) -> int: ...
    def apply(self, state: Any) -> Change: ...
    def update(self, state: Any, gradient: Change, t: int) -> Any: ...
    def reach(self) -> Reach | None: ...


@runtime_checkable
class Passes(Protocol):
    """The points at which each step takes gradients, and each player's share of them."""

    @property
    def per_step(self) -> int: ...
    def points(self, players: Sequence[Player], states: Sequence[Any]) -> list[Change]: ...
    def share(self, gradients: list[Change], player: int) -> Change: ...


class JointPass:
    """One point per step, the sum of all changes; its gradient serves every player."""

    per_step = 1

    def points(self, players: Sequence[Player], states: Sequence[Any]) -> list[Change]:
        changes = [player.apply(state) for player, state in zip(players, states, strict=True)]
        return [sum(changes[1:], changes[0])]

    def share(self, gradients: list[Change], player: int) -> Change:
        return gradients[0]


@dataclass(frozen=True)
class Ascent:
    """Final states, and the loss at each step's (first) pass."""

    states: list[Any]
    losses: list[Float[Tensor, ""]] = field(default_factory=list)
    at_end: Float[Tensor, ""] | None = None
    """the loss at the final states, if it was asked for"""


def ascend(
    objective: Callable[[Change], Float[Tensor, ""]],
    players: Sequence[Player],
    states: Sequence[Any],
    passes: Passes | None = None,
    *,
    looks_at_end: bool = False,
) -> Ascent:
    """Move the players so that the objective, summed over rows, rises.

    Only gradients of inputs are computed, at the points of `passes` (by default the one of `JointPass`), for
    the largest `num_steps`: max(num_steps) passes, whatever the number of players. Players that have finished
    stay where they are. With `looks_at_end` one more pass, without gradient, takes the loss at the final states.
    """
    passes, states, losses = passes or JointPass(), list(states), []
    for t in range(1, max((player.num_steps for player in players), default=0) + 1):
        taken = [_gradient(objective, point) for point in passes.points(players, states)]
        losses.append(taken[0][0])
        gradients = [gradient for _, gradient in taken]
        states = [p.update(states[i], passes.share(gradients, i), t) for i, p in enumerate(players)]
    if not looks_at_end or not losses:
        return Ascent(states, losses)
    with torch.no_grad():
        return Ascent(states, losses, objective(passes.points(players, states)[0]).detach())


@contextmanager
def frozen(network: "nn.Module", *, training: bool = False) -> Iterator[None]:
    """Hold parameters constant inside; no activations are kept for their gradients."""
    trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
    with in_mode(network, training=training):
        try:
            for parameter in trained:
                parameter.requires_grad_(False)
            yield
        finally:
            for parameter in trained:
                parameter.requires_grad_(True)


def _gradient(objective: Callable[[Change], Tensor], point: Change) -> tuple[Tensor, Change]:
    with torch.enable_grad():
        addition = None if point.addition is None else point.addition.detach().requires_grad_()
        masks = tuple(
            SiteMask(site.tokens.detach().requires_grad_(), site.features.detach().requires_grad_())
            for site in point.masks
        )
        loss = objective(Change(addition, masks))
        leaves = [] if addition is None else [addition]
        leaves += [leaf for site in masks for leaf in (site.tokens, site.features)]
        gradients = list(torch.autograd.grad(loss, leaves))
    gradient = None if addition is None else gradients.pop(0)
    pairs = zip(gradients[::2], gradients[1::2], strict=True)
    return loss.detach(), Change(gradient, tuple(SiteMask(tokens, features) for tokens, features in pairs))
