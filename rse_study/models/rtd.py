"""Training-only heads, and replaced-token detection: a generator, a discriminator."""

import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from rse_study.data.batches import RealTokens
from rse_study.models.backbone import Padded
from rse_study.models.encoder import SentenceEncoder, by_chunks, draw_weights
from rse_study.registry import Registry
from rse_study.tensors import Alone, Collectives


def seeded_linear(
    in_features: int, out_features: int, generator: torch.Generator, bias: bool = True
) -> nn.Linear:
    """Build nn.Linear with its usual bounds U(-1/sqrt(in), 1/sqrt(in)), in float32."""
    linear = nn.utils.skip_init(nn.Linear, in_features, out_features, bias=bias, dtype=torch.float32)
    draw_weights(linear, generator)
    return linear


class Moments(NamedTuple):
    """Mean and (biased) variance of each feature over the rows of all workers."""

    mean: Tensor
    variance: Tensor
    num_rows: Tensor

    def detach(self) -> "Moments":
        return Moments(*(value.detach() for value in self))


def moments_of(x: Float[Tensor, "b d"], collectives: Collectives) -> Moments:
    """Compute moments over the rows of all workers by centred sums, with gradient."""
    num_rows = collectives.sum(torch.full((), len(x), dtype=x.dtype, device=x.device))
    mean = collectives.sum(x.sum(0)) / num_rows
    variance = collectives.sum((x - mean).square().sum(0)) / num_rows
    return Moments(mean, variance, num_rows)


class BatchNorm(nn.Module):
    """y = (x - mean) / sqrt(variance + epsilon), with gain and bias where `affine`."""

    running_mean: Tensor
    running_variance: Tensor

    def __init__(
        self,
        width: int,
        affine: bool,
        collectives: Collectives | None = None,
        momentum: float = 0.1,
        epsilon: float = 1e-5,
    ) -> None:
        super().__init__()
        self.momentum, self.epsilon = momentum, epsilon
        self.collectives = collectives or Alone()
        self.gain = nn.Parameter(torch.ones(width)) if affine else None
        self.bias = nn.Parameter(torch.zeros(width)) if affine else None
        self.register_buffer("running_mean", torch.zeros(width))
        self.register_buffer("running_variance", torch.ones(width))

    def forward(
        self, x: Float[Tensor, "b d"], moments: Moments | None = None
    ) -> tuple[Float[Tensor, "b d"], Moments]:
        """Return the rows normalised by the given moments or their own, and the moments."""
        x = x.to(torch.promote_types(x.dtype, torch.float32))
        used = moments_of(x, self.collectives) if moments is None else moments
        y = (x - used.mean) * torch.rsqrt(used.variance + self.epsilon)
        if self.gain is not None and self.bias is not None:
            y = y * self.gain + self.bias
        return y, used

    @torch.no_grad()
    def update(self, moments: Moments) -> None:
        """Move the running moments towards these, with the unbiased variance as in torch."""
        n = moments.num_rows
        unbiased = moments.variance * (n / (n - 1).clamp(min=1))
        self.running_mean.lerp_(moments.mean.to(self.running_mean.dtype), self.momentum)
        self.running_variance.lerp_(unbiased.to(self.running_variance.dtype), self.momentum)


HeadMoments = tuple[Moments, ...]


class _WithoutMoments(nn.Module):
    def update(self, moments: HeadMoments) -> None:
        """Change nothing: this head keeps no running moments."""


class NoHead(_WithoutMoments):
    """A head that returns the pooled vector itself."""

    def __init__(self, width: int, generator: torch.Generator, collectives: Collectives) -> None:
        super().__init__()

    def forward(
        self, x: Float[Tensor, "b d"], moments: HeadMoments | None = None
    ) -> tuple[Float[Tensor, "b d"], HeadMoments]:
        return x, ()


class LinearTanh(_WithoutMoments):
    """tanh(W x + c), SimCSE's training-time pooler."""

    def __init__(self, width: int, generator: torch.Generator, collectives: Collectives) -> None:
        super().__init__()
        self.linear = seeded_linear(width, width, generator)

    def forward(
        self, x: Float[Tensor, "b d"], moments: HeadMoments | None = None
    ) -> tuple[Float[Tensor, "b d"], HeadMoments]:
        return torch.tanh(self.linear(x)), ()


class BatchNormHead(nn.Module):
    """Linear - BN - ReLU - Linear - BN without biases; no affine part in the last BN."""

    def __init__(self, width: int, generator: torch.Generator, collectives: Collectives) -> None:
        super().__init__()
        self.first = seeded_linear(width, width, generator, bias=False)
        self.first_norm = BatchNorm(width, affine=True, collectives=collectives)
        self.second = seeded_linear(width, width, generator, bias=False)
        self.second_norm = BatchNorm(width, affine=False, collectives=collectives)

    def forward(
        self, x: Float[Tensor, "b d"], moments: HeadMoments | None = None
    ) -> tuple[Float[Tensor, "b d"], HeadMoments]:
        """Normalise by x's own moments or the given ones, in train and eval mode alike."""
        first, second = moments if moments is not None else (None, None)
        hidden, used_first = self.first_norm(self.first(x), first)
        y, used_second = self.second_norm(self.second(torch.relu(hidden)), second)
        return y, (used_first, used_second)

    def update(self, moments: HeadMoments) -> None:
        self.first_norm.update(moments[0])
        self.second_norm.update(moments[1])


HEADS: Registry[type[nn.Module]] = Registry(
    "head", {"none": NoHead, "linear_tanh": LinearTanh, "batch_norm": BatchNormHead}
)


def build_head(kind: str, width: int, generator: torch.Generator, collectives: Collectives) -> nn.Module:
    """Build the head called `kind`; `generator` draws its weights in float32."""
    return HEADS.get(kind)(width, generator, collectives)


class Discriminator(nn.Module):
    """A classifier of each token as original or replaced (RobustSentEmbed eq 8).

    It starts as a copy of the encoder, so build it before training, and reads the *encoder's* word embeddings.
    """

    def __init__(self, encoder: SentenceEncoder, generator: torch.Generator) -> None:
        super().__init__()
        encoder.require_sites(1)  # found before the copy, which has no word embeddings to look for them
        self.encoder = copy.deepcopy(encoder)
        self.encoder.backbone.set_input_embeddings(nn.Identity())
        self.output = seeded_linear(encoder.hidden_size, 1, generator)

    def forward(
        self,
        embeddings: Float[Tensor, "b l e"],
        mask: Bool[Tensor, "b l"],
        h: Float[Tensor, "b d"],
        *,
        reads_padding: bool = False,
        places: RealTokens | None = None,
    ) -> Float[Tensor, "b l"]:
        """Return each token's logit of being the original one (eq 8); 0 at padding.

        `h` replaces the embedding block's output (after dropout) at position 0. With `reads_padding`, padding
        has logits.
        """

        def detect(embeddings: Tensor, mask: Tensor, h: Tensor) -> Tensor:
            layout = Padded(mask) if reads_padding else self.encoder.layout(mask, places)

            def with_h(block_output: Tensor) -> Tensor:
                return layout.with_first(block_output, h.to(block_output.dtype))

            hidden = self.encoder.hidden_states(layout, embeddings, changes={0: [with_h]})
            return layout.restore(self.output(hidden)).squeeze(-1)

        return by_chunks(self, detect, self.encoder.chunk_size, embeddings, mask, h)


@dataclass(frozen=True)
class TokenPlaces:
    """Real tokens, and flat indices among all b * l of those that are taken."""

    real: RealTokens
    taken: Int[Tensor, " m"]

    @classmethod
    def of(cls, mask: Bool[Tensor, "b l"], taken: Bool[Tensor, "b l"]) -> "TokenPlaces":
        return cls(RealTokens.of(mask), taken.flatten().nonzero().squeeze(1))


class Generator(nn.Module):
    """A frozen masked language model, which stays in eval mode."""

    def __init__(self, model: Any, tokenizer: Any, name: str) -> None:
        super().__init__()
        self.model = model.eval().requires_grad_(False)
        self.tokenizer, self.name = tokenizer, name
        self.chunk_size = 0
        """most sentences read at a time; 0: all"""

    def train(self, mode: bool = True) -> "Generator":
        """Stay in eval mode, whatever the owner does."""
        return super().train(False)

    @torch.no_grad()
    def fill(
        self,
        ids: Int[Tensor, "b l"],
        masked: Bool[Tensor, "b l"],
        mask: Bool[Tensor, "b l"],
        *,
        taken: Bool[Tensor, "b l"] | None = None,
        uniform: Float[Tensor, "b l"] | None = None,
        places: TokenPlaces | None = None,
    ) -> Int[Tensor, "b l"]:
        """Replace tokens by G's predictions: argmax, or drawn by `uniform` ~ U(0, 1).

        G does not see `masked` tokens; its predictions replace `taken` ones, by default the same.
        """
        num_rows = len(mask)

        def fill(ids: Tensor, masked: Tensor, mask: Tensor, taken: Tensor, uniform: Tensor | None) -> Tensor:
            at = places if places is not None and len(mask) == num_rows else TokenPlaces.of(mask, taken)
            hidden = ids.masked_fill(masked, self.tokenizer.mask_token_id)
            logits = logits_at(self.model, hidden, mask, at)
            filled = logits.argmax(-1) if uniform is None else _drawn(logits, uniform.flatten()[at.taken])
            return ids.flatten().index_copy(0, at.taken, filled.to(ids.dtype)).view_as(ids)

        taken = masked if taken is None else taken
        return by_chunks(self, fill, self.chunk_size, ids, masked, mask, taken, uniform)


def _drawn(logits: Float[Tensor, "m v"], uniform: Float[Tensor, " m"]) -> Int[Tensor, " m"]:
    """Draw one token a row by inverting the cumulative distribution at `uniform`."""
    cumulative = logits.double().softmax(-1).cumsum(-1)
    found = torch.searchsorted(cumulative, uniform.double()[:, None]).squeeze(-1)
    return found.clamp(max=logits.shape[-1] - 1)


def masked_logits(
    model: Any,
    ids: Int[Tensor, "b l"],
    masked: Bool[Tensor, "b l"],
    mask: Bool[Tensor, "b l"],
    *,
    skips_padding: bool = True,
) -> Float[Tensor, "m v"]:
    """Return the logits at the masked positions only, row by row."""
    return logits_at(model, ids, mask, TokenPlaces.of(mask, masked), skips_padding=skips_padding)


def logits_at(
    model: Any,
    ids: Int[Tensor, "b l"],
    mask: Bool[Tensor, "b l"],
    places: TokenPlaces,
    *,
    skips_padding: bool = True,
) -> Float[Tensor, "m v"]:
    """Return the logits of the taken tokens; the vocabulary-wide layer sees no others.

    With `skips_padding=False`, dropout is drawn for padding too.
    """
    reader = SentenceEncoder(model.base_model, "mean")
    reader.skips_padding &= skips_padding
    hidden = reader.token_vectors(reader.word_embeddings(ids), mask, places=places.real)
    return _head_logits(model, hidden.flatten(0, 1)[places.taken])


def _head_logits(model: Any, hidden: Float[Tensor, "m d"]) -> Float[Tensor, "m v"]:
    name, base_model = model.base_model_prefix, model.base_model
    setattr(model, name, _Read(hidden[None]))
    try:
        return model(inputs_embeds=hidden[None]).logits[0]
    finally:
        setattr(model, name, base_model)


class _Read(nn.Module):
    """A stand-in for a base model whose hidden states are known."""

    def __init__(self, hidden: Float[Tensor, "1 m d"]) -> None:
        super().__init__()
        self.hidden = hidden

    def forward(self, *inputs: Any, **settings: Any) -> Any:
        # This import takes most of a second, which checks of a study do not need.
        from transformers.modeling_outputs import BaseModelOutput

        return BaseModelOutput(last_hidden_state=self.hidden)
