"""Token-level eta and the table V that keeps it across batches (Li and Qiu 2021)."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, PositiveFloat, field_serializer

from rse_study.perturbations import geometry
from rse_study.perturbations.ascent import Anchor, Change
from rse_study.perturbations.sentence_level import Ball, DeltaState, perturbable_gradient
from rse_study.results.manipulation import LIMITS, Checks, ManipulationCheck
from rse_study.spec import Spec, field
from rse_study.streams import Streams
from rse_study.tensors import Bool, Collectives, Float, Int, Tensor, torch

Presence = Annotated[
    Literal["present", "absent"],
    BeforeValidator(
        lambda given: "absent" if given == "none" else given,
        json_schema_input_type=Literal["present", "absent", "none"],
    ),
]
"""Files, ledgers and identities from before `absent` say `none`."""
EtaTable = Float[Tensor, "v d"]


class TokenLevel(Spec):
    """Token-aware perturbation eta (RobustSentEmbed eqs 2-4), started from V."""

    semantics: ClassVar[int] = 1
    checks: ClassVar[Checks] = (
        ManipulationCheck("eta/growth", "eta", *LIMITS["eta/growth"], "no token-level perturbation"),
        ManipulationCheck(
            "eta/starved", "eta of most tokens", *LIMITS["eta/starved"], "eta on some tokens", at_most=True
        ),
    )
    presence: Presence = "present"
    """whether there are eta and V at all"""
    ball: Ball = Ball(radius=0.2, given_for="l2", scope="token")
    """the ball eta stays in"""
    step_size: PositiveFloat = field(2e-2, symbol="gamma")
    """length of a step along g_i / ||g_i||_P, in embedding units, stated for `ball.given_for`"""
    sigma: PositiveFloat = field(0.1, symbol="sigma")
    """half width of the start V ~ U(-sigma, sigma) / sqrt(d), in embedding units times sqrt(d)"""
    # Eq. 2 takes n_i from eta before the step; Token-Aware VAT takes it after. Decision 0004 has the curve.
    scaling: Literal["before", "after", "none"] = "before"
    """n_i from eta_i before the step, from eta_i after it, or n_i = 1"""
    write_back: Literal["mean", "last", "accumulate", "none"] = "mean"
    """what V takes from a token's occurrences in the batch: mean or last eta, the sum of the moves, or nothing"""
    redraw: Literal["never", "epoch"] = "never"
    """when V is drawn anew: never, or at the start of each epoch"""

    @field_serializer("presence")
    def _in_the_ledgers_word(self, presence: str) -> str:
        return "none" if presence == "absent" else presence

    def identity(self) -> dict[str, Any]:
        """Return the identity with `none` for an absent eta, as it always was."""
        return super().identity() | {"presence": self._in_the_ledgers_word(self.presence)}

    @property
    def num_steps(self) -> int:
        return 0

    def reach(self) -> None:
        """Return None: eta goes on from batch to batch, in a ball given for l2."""

    def table(self, vocabulary: int, width: int, streams: Streams, epoch: int = 0) -> EtaTable:
        """Draw V ~ U(-sigma, sigma) / sqrt(d), once per run (Algorithm 1) or per epoch."""
        # The first table is the same with and without redrawing.
        key = (epoch,) if epoch else ()
        noise = torch.rand(vocabulary, width, generator=streams.generator("V", *key))
        return (2 * noise - 1) * self.sigma / width**0.5

    def init_from(self, table: EtaTable, anchor: Anchor) -> DeltaState:
        """Start at eta0 = V[ids], on perturbable tokens, projected."""
        ball = self.ball.around(anchor.perturbable, anchor.embeddings)
        eta = ball.project(table[anchor.ids].to(anchor.embeddings) * anchor.perturbable[:, :, None])
        return DeltaState(eta, eta, ball, anchor.perturbable)

    def apply(self, state: DeltaState) -> Change:
        return Change(state.delta)

    def update(self, state: DeltaState, gradient: Change, t: int) -> DeltaState:
        """Step to eta_i <- Proj(n_i * (eta_i + gamma * g_i / ||g_i||_P)), eqs 2-4.

        We read other indices in eq. 4 and Algorithm 1 as typos: the new eta is projected.
        """
        g = perturbable_gradient(state, gradient)
        moved = state.delta + state.ball.length(self.step_size) * state.ball.unit(g)
        return state.to(self._scale(moved if self.scaling == "after" else state.delta) * moved)

    def _scale(self, eta: Float[Tensor, "b l d"]) -> Float[Tensor, "b l 1"]:
        """Return n_i = ||eta_i||_P / max_j ||eta_j||_P (eq 2); 1 in an all-zero sentence."""
        norms = geometry.norm_of(eta, self.ball.norm)
        largest = norms.amax(1, keepdim=True)
        if self.scaling == "none":
            return torch.ones_like(norms)
        return torch.where(largest > 0, norms / torch.where(largest > 0, largest, 1), 1)

    def growth(self, state: DeltaState) -> Float[Tensor, "b l"]:
        """Return each token's ||eta||_2 by sigma / sqrt(3), that of V as drawn."""
        return state.delta.norm(dim=2) / (self.sigma / 3**0.5)

    def remember(self, table: EtaTable, anchor: Anchor, state: DeltaState, collectives: Collectives) -> None:
        """Write eta of this batch back to V, in place: V is too large to copy.

        Repeated tokens give the mean, the last (in the order of the global batch), or their movements' sum
        (accumulate).
        """
        if self.write_back == "none":
            return
        seen = anchor.batch.perturbable_places
        ids = collectives.gather_ragged(seen.of(anchor.ids))
        values = state.delta - state.start if self.write_back == "accumulate" else state.delta
        gathered = collectives.gather_ragged(seen.of(values).to(table.dtype))
        # Every occurrence of a word writes the same row: counting the distinct words would wait for a GPU.
        word = _words(ids)
        if self.write_back == "last":
            order = _reading_order(anchor, collectives)
            latest = _last_of_each(word[order])
            table[ids] = gathered[order][latest[word]]
            return
        total = torch.zeros_like(gathered).index_add_(0, word, gathered)[word]
        if self.write_back == "accumulate":
            table[ids] = table[ids] + total
        else:
            # Where all count, all workers know it: no message tells them.
            ones = torch.ones_like(word) if seen.counts is None else seen.ones(word.dtype)
            occurrences = torch.zeros_like(word).index_add_(0, word, ones)[word][:, None].to(table.dtype)
            table[ids] = torch.where(occurrences > 0, total / occurrences, table[ids])


def starved(state: DeltaState, norm: geometry.Norm) -> Bool[Tensor, "b l"]:
    """Whether a token's eta is below 1% of its sentence's largest, in P-norm."""
    norms = geometry.norm_of(state.delta, norm)[:, :, 0]
    return norms < 0.01 * norms.amax(1, keepdim=True)


def _reading_order(anchor: Anchor, collectives: Collectives) -> Int[Tensor, " n"]:
    """Order the gathered tokens as in the global batch: by sentence, then position."""
    num_rows, length = anchor.ids.shape
    position = torch.arange(length, device=anchor.ids.device).expand(num_rows, length)
    rank_of = (anchor.batch.rows[:, None] * 1_000_000 + position).flatten()
    return collectives.gather_ragged(rank_of[anchor.batch.perturbable_places.flat]).argsort()


def _words(ids: Int[Tensor, " n"]) -> Int[Tensor, " n"]:
    """Number the distinct ids from 0, as `unique` does, but with one row per id."""
    ordered, order = ids.sort(stable=True)
    begins = torch.cat([torch.zeros_like(ordered[:1]), (ordered[1:] != ordered[:-1]).long()])
    return torch.empty_like(ids).scatter_(0, order, begins.cumsum(0))


def _last_of_each(word: Int[Tensor, " n"]) -> Int[Tensor, " n"]:
    index = torch.arange(len(word), device=word.device)
    return torch.zeros_like(word).scatter_reduce_(0, word, index, "amax", include_self=False)
