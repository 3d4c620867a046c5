"""Networks that methods train: their base, pairs of encoders, and those of DCL."""

import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from rse_study.data.batches import Batch
from rse_study.models.encoder import SentenceEncoder, by_chunks
from rse_study.models.pooling import NormKind
from rse_study.models.rtd import BatchNorm, Discriminator, seeded_linear
from rse_study.tensors import Alone, Collectives


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

    def points_of(self, embeddings: Float[Tensor, "b l e"], batch: Batch) -> list[Tensor]:
        """Return the word embeddings of a batch's texts, of which the first are given."""
        views = [self.encoder.word_embeddings(view.ids) for view in batch.views]
        return [embeddings, *(views or [embeddings])]

    def project_views(
        self, points: Float[Tensor, "n l e"], rows: Batch, weights: Any = (), num_views: int = 2
    ) -> tuple[Any, ...]:
        """Return z of each view, one below the other, and then the first's moments."""
        pooled = self.encoder(points, rows.mask, rows.ids, weights, places=rows.real_places)
        projected = [self.head(view) for view in pooled.chunk(num_views)]
        return *(z.to(points.dtype) for z, _ in projected), projected[0][1]


class PairNetworks(Networks):
    """Networks with a second encoder, a copy of the first before training.

    `is_frozen`: it is not trained, and has no dropout whatever the mode of the whole.
    """

    def __init__(self, encoder: SentenceEncoder, head: nn.Module, *, is_frozen: bool = False) -> None:
        super().__init__(encoder, head)
        self.other, self.is_frozen = copy.deepcopy(encoder), is_frozen
        if is_frozen:
            self.other.eval().requires_grad_(False)

    def train(self, mode: bool = True) -> "PairNetworks":
        """Set the mode, but for a frozen encoder's, which stays in eval mode."""
        super().train(mode)
        self.other.train(mode and not self.is_frozen)
        return self

    @torch.no_grad()
    def layer_maxima(self, batch: Batch) -> Float[Tensor, "b k d"]:
        """Return the maxima over real tokens of the other's hidden states, all layers'."""
        other = self.other

        def read(embeddings: Tensor, mask: Tensor) -> Tensor:
            layout, seen = other.layout(mask, batch.real_places), dict[int, Tensor]()
            changes = {site: [partial(seen.setdefault, site)] for site in range(other.num_layers)}
            seen[other.num_layers] = other.hidden_states(layout, embeddings, changes=changes)
            states = torch.stack([layout.restore(state) for state in seen.values()], dim=1)
            return states.masked_fill(~mask[:, None, :, None], -torch.inf).amax(2)

        return by_chunks(other, read, other.chunk_size, other.word_embeddings(batch.ids), batch.mask)

    def squared_distance(self) -> Float[Tensor, ""]:
        """Return the squared distance between the parameters of both backbones."""
        both = (encoder.backbone.parameters() for encoder in (self.encoder, self.other))
        mine, theirs = map(nn.utils.parameters_to_vector, both)
        return (mine - theirs).square().sum()


@dataclass
class Sums:
    """Sums over the rows of one recorded pass: squares forward, products backward."""

    squares: Tensor
    num_rows: float
    scaled_squares: Tensor | None = None
    products: Tensor | None = None


class PowerNorm(nn.Module):
    """Y = gain * X / psi_(t-1) + bias per feature (DCL eq 9; Shen et al. 2020).

    psi_t^2 = a psi_(t-1)^2 + (1 - a) mean X^2. Backward, with G = gain dY and X^ = X / psi: dX = (G - nu_(t-1) X^) /
    psi_(t-1), nu_t = nu_(t-1) (1 - (1 - a) mean X^^2) + (1 - a) mean(G X^). This is not the gradient of the forward
    pass, nor meant to be. psi and nu are buffers, which `update` moves once a step by the recorded pass, over the
    rows of all workers.
    """

    psi: Tensor
    nu: Tensor

    def __init__(self, width: int, collectives: Collectives | None = None, decay: float = 0.9) -> None:
        super().__init__()
        self.decay, self.collectives = decay, collectives or Alone()
        self.gain, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))
        self.register_buffer("psi", torch.ones(width))
        self.register_buffer("nu", torch.zeros(width))
        self._recorded: Sums | None = None

    def forward(self, x: Float[Tensor, "b d"], *, records: bool = False) -> Float[Tensor, "b d"]:
        """Normalise the rows; with `records`, the next `update` uses this pass."""
        x = x.to(torch.promote_types(x.dtype, torch.float32))
        sums = Sums(x.detach().square().sum(0), float(len(x))) if records else None
        if records:
            self._recorded = sums
        # Copies: `update` may come before the backward pass of another view.
        return _Normalise.apply(x, self.gain, self.bias, self.psi.clone(), self.nu.clone(), sums)

    @torch.no_grad()
    def update(self) -> None:
        sums, keep = self._recorded, self.decay
        if sums is None:
            return
        self._recorded = None
        count = self.collectives.sum(torch.full_like(self.psi[0], sums.num_rows))
        mean_square = self.collectives.sum(sums.squares.to(self.psi)) / count
        if sums.products is not None and sums.scaled_squares is not None:
            scaled = self.collectives.sum(sums.scaled_squares.to(self.nu)) / count
            product = self.collectives.sum(sums.products.to(self.nu)) / count
            self.nu.copy_(self.nu * (1 - (1 - keep) * scaled) + (1 - keep) * product)
        self.psi.copy_((keep * self.psi.square() + (1 - keep) * mean_square).sqrt())


class _Normalise(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, gain: Tensor, bias: Tensor, psi: Tensor, nu: Tensor, sums: Sums | None
    ) -> Tensor:
        scaled = x / psi
        ctx.save_for_backward(scaled, gain, psi, nu)
        ctx.sums = sums
        return gain * scaled + bias

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor | None, ...]:
        scaled, gain, psi, nu = ctx.saved_tensors
        d_y = grads[0]
        g = gain * d_y
        if ctx.sums is not None:
            ctx.sums.scaled_squares, ctx.sums.products = scaled.square().sum(0), (g * scaled).sum(0)
        return (g - nu * scaled) / psi, (d_y * scaled).sum(0), d_y.sum(0), None, None, None


class Projection(nn.Module):
    """DCL's projection and predictor, [b n] to [b m]: Linear - norm - ReLU - Linear.

    The norm may be left out.
    """

    def __init__(
        self,
        width: int,
        hidden: int,
        out: int,
        norm: NormKind,
        generator: torch.Generator,
        collectives: Collectives,
    ) -> None:
        super().__init__()
        self.first = seeded_linear(width, hidden, generator)
        self.norm: Any = _norm(norm, hidden, collectives)
        self.second = seeded_linear(hidden, out, generator)
        self._moments: Any = None

    def forward(self, x: Float[Tensor, "b n"], *, records: bool = False) -> Float[Tensor, "b m"]:
        """Project the rows; with `records`, the next `update` uses this view."""
        hidden = self.first(x)
        if isinstance(self.norm, PowerNorm):
            hidden = self.norm(hidden, records=records)
        elif isinstance(self.norm, BatchNorm):
            hidden, moments = self.norm(hidden)
            self._moments = moments if records else self._moments
        return self.second(torch.relu(hidden))

    def update(self) -> None:
        """Move the running statistics by the recorded view, after its backward pass."""
        if isinstance(self.norm, PowerNorm):
            self.norm.update()
        elif isinstance(self.norm, BatchNorm) and self._moments is not None:
            self.norm.update(self._moments.detach())
            self._moments = None


def _norm(kind: NormKind, width: int, collectives: Collectives) -> nn.Module | None:
    if kind == "power":
        return PowerNorm(width, collectives)
    return BatchNorm(width, affine=True, collectives=collectives) if kind == "batch" else None


class MaskedLMHead(nn.Module):
    """BERT's masked-LM head, for encoders without one, tied to the word embeddings.

    logits = E LayerNorm(GELU(W h + c)) + bias, with E given (Devlin et al. 2019).
    """

    def __init__(self, hidden: int, embedding: int, vocabulary: int, generator: torch.Generator) -> None:
        super().__init__()
        self.transform = seeded_linear(hidden, embedding, generator)
        self.norm = nn.LayerNorm(embedding)
        self.bias = nn.Parameter(torch.zeros(vocabulary))

    def forward(self, hidden: Float[Tensor, "m h"], table: Float[Tensor, "v e"]) -> Float[Tensor, "m v"]:
        return self.norm(F.gelu(self.transform(hidden))) @ table.T + self.bias


class TargetNetwork(nn.Module):
    """A copy of encoder and projection that follows them by a moving average."""

    def __init__(self, encoder: SentenceEncoder, projection: Projection) -> None:
        super().__init__()
        self.encoder, self.projection = copy.deepcopy(encoder), copy.deepcopy(projection)
        self.requires_grad_(False)

    @torch.no_grad()
    def follow(self, networks: "DCLNetworks", decay: float) -> None:
        """Move the weights, xi <- decay xi + (1 - decay) theta (eq 7); copy the buffers."""
        pairs = ((self.encoder, networks.encoder), (self.projection, networks.head))
        for mine, theirs in pairs:
            torch._foreach_lerp_(list(mine.parameters()), list(theirs.parameters()), 1 - decay)
            for kept, new in zip(mine.buffers(), theirs.buffers(), strict=True):
                kept.copy_(new)


class DCLNetworks(Networks):
    """The encoder, projection (the head), predictor, masked-LM head and target of DCL."""

    def __init__(
        self,
        encoder: SentenceEncoder,
        projection: Projection,
        predictor: Projection,
        masked_lm: MaskedLMHead | None,
    ) -> None:
        super().__init__(encoder, projection)
        self.predictor = predictor
        self.masked_lm = masked_lm
        self.target = TargetNetwork(encoder, projection)
