"""Any bidirectional Hugging Face encoder, from `inputs_embeds` to a vector."""

import inspect
from collections.abc import Callable, Sequence
from functools import cached_property, partial, wraps
from itertools import repeat
from types import MappingProxyType
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from rse_study.data.batches import RealTokens
from rse_study.errors import InputError
from rse_study.models.backbone import (
    Changes,
    Packed,
    Padded,
    SiteChange,
    TokenInputs,
    can_be_packed,
    changed_states,
    find_layers,
)
from rse_study.models.pooling import PoolingKind, in_mode, pool_mean, prompt_positions
from rse_study.streams import Streams

RowFunction = Callable[..., Tensor]


def by_chunks(module: nn.Module, work: RowFunction, chunk_size: int, *rows: Tensor | None) -> Tensor:
    """Compute work(*rows) in chunks of at most `chunk_size` rows (0: all), kept apart.

    Only one chunk's activations are in memory at a time: each runs again once its outputs' gradient is known (Gao et
    al. 2021; Chen et al. 2016), and negatives stay in-batch.
    A chunk's second run has the mode and the dropout masks of its first.
    """
    first = rows[0]
    assert first is not None
    if not 0 < chunk_size < len(first):
        return work(*rows)
    run = partial(_computed_twice, module, work) if torch.is_grad_enabled() else work
    parts = [repeat(None) if tensor is None else tensor.split(chunk_size) for tensor in rows]
    return torch.cat([run(*chunk) for chunk in zip(*parts, strict=False)])


def _computed_twice(module: nn.Module, work: RowFunction, *chunk: Tensor | None) -> Tensor:
    training = module.training  # the second run happens in `backward`, after a method has left its modes

    def compute(*chunk: Tensor | None) -> Tensor:
        with in_mode(module, training=training):
            return work(*chunk)

    found: Tensor = checkpoint(compute, *chunk, use_reentrant=False)
    return found


# Of a pass: a cell of RobustSentEmbed has 4, and torch looks through all of them at every call.
MOST_GRAPHS = 64


def compiled(run: Callable[..., Any]) -> Callable[..., Any]:
    """Have torch.compile fuse a function of tensors, for batches of any shape.

    What was compiled for one cell serves the next whose modules are alike, whatever their weights. Where cells are so
    unlike that there are too many graphs, all are forgotten; torch alone would compute the rest uncompiled, to other
    last bits.
    """
    from torch._dynamo.exc import FailOnRecompileLimitHit  # takes seconds, for a compiler that few ask for

    limits: Any = torch._dynamo.config
    # A step that is reported differentiates the terms of its loss one by one before the whole of it.
    torch._functorch.config.donated_buffer = False
    limits.recompile_limit, limits.fail_on_recompile_limit_hit = MOST_GRAPHS, True
    # Dropout draws the numbers it draws uncompiled: passes that share masks are compiled separately.
    options: dict[str, Any] = {"fallback_random": True}
    fused = torch.compile(run, dynamic=True, options=options)

    @wraps(run)
    def call(*arguments: Any) -> Any:
        try:
            return fused(*arguments)
        except FailOnRecompileLimitHit:
            torch.compiler.reset()
            return fused(*arguments)

    return call


def draw_weights(layers: nn.Module, generator: torch.Generator) -> None:
    """Draw weights and biases by U(-1/sqrt(in), 1/sqrt(in)), as torch does."""
    for parameter in layers.parameters():
        if parameter.dim() > 1:  # a weight, whose bias follows
            bound = parameter[0].numel() ** -0.5
        drawn = torch.rand(parameter.shape, generator=generator, dtype=torch.float32)
        parameter.data.copy_((2 * drawn - 1) * bound)


Layout = Padded | Packed
"""A batch's mask, and the arrangement of hidden states [b l d] between layers."""


class SentenceEncoder(nn.Module):
    """A backbone without pooler and head, with a pooling of its token vectors."""

    def __init__(self, backbone: nn.Module, pooling: PoolingKind, mask_token_id: int | None = None) -> None:
        super().__init__()
        self.backbone: Any = backbone
        self.pooling = pooling
        self.mask_token_id = mask_token_id
        self.skips_padding = can_be_packed(backbone)
        self.chunk_size = 0
        """most sentences per chunk of a pass; 0: all at once"""
        self.prompt = ""
        """text that stands before every sentence it embeds"""
        self.has_unread_pooler = False
        """whether its checkpoint has a pooler, which only pooling `pooler` reads"""
        self.convolutions: Any = nn.ModuleList()  # of pooling `convolved`
        self.has_stored_convolutions = False
        if pooling == "convolved":
            third, made = self.hidden_size // 3, partial(nn.utils.skip_init, nn.Conv1d, self.hidden_size)
            dtype = next(backbone.parameters()).dtype
            for window, width in ((1, self.hidden_size - 2 * third), (3, third), (5, third)):
                self.convolutions.append(made(width, window, padding=window // 2, dtype=dtype))
            draw_weights(self.convolutions, Streams(0).generator("init"))
        self._run_packed: Any = Packed.run
        taken = inspect.signature(backbone.forward).parameters
        self._takes_positions = "position_ids" in taken
        # RoBERTa takes types too but has only one, which cannot mark a pair's second sentence.
        self.tells_types = "token_type_ids" in taken and getattr(backbone.config, "type_vocab_size", 0) > 1

    @property
    def config(self) -> Any:
        return self.backbone.config

    @property
    def hidden_size(self) -> int:
        return int(self.config.hidden_size)

    @property
    def embedding_size(self) -> int:
        """Width of the word embeddings; ELECTRA's and ALBERT's is not the hidden width."""
        return int(self.backbone.get_input_embeddings().weight.shape[1])

    @property
    def num_layers(self) -> int:
        return int(self.config.num_hidden_layers)

    def last_layer(self) -> list[nn.Parameter]:
        """Return the last layer's weights; all where layers are not known."""
        module = (self.layers or [self.backbone])[-1]
        return [parameter for parameter in module.parameters() if parameter.requires_grad]

    @cached_property
    def layers(self) -> list[nn.Module]:
        """The layers in the order of their application; empty where they are not known."""
        return find_layers(self.backbone)

    def require_sites(self, num_needed: int, where: str = "") -> None:
        """Raise InputError if its sites, the embedding block's and layers', are too few."""
        num_layers, unweakened = len(self.layers), "method.masks.phi: 0 (L2P-CSR: perturbs: embeddings)"
        if not self.layers:
            what = f"{type(self.backbone).__name__} has no known sites"
            rule = (
                "weakening masks, first_last pooling, SG-OPT and the discriminator read or change the hidden states "
                "between layers, each of which must read what the one before has returned"
            )
            remedy = f"Use another encoder, such as BERT or ALBERT, or set {unweakened}, lambda2: 0 and pooling: mean"
            raise InputError(what, where=where, rule=rule, remedy=remedy)
        if num_needed > num_layers + 1:
            what = f"method.masks: {num_needed} sites are weakened"
            rule = f"this encoder has {num_layers + 1}: the embedding block and {num_layers} layers"
            remedy = f"Lower method.masks.num_layers to {num_layers} or less, or set {unweakened}"
            raise InputError(what, where=where, rule=rule, remedy=remedy)

    def word_embeddings(self, ids: Int[Tensor, "b l"]) -> Float[Tensor, "b l e"]:
        """Look up the word embeddings: no position, no type, no LayerNorm."""
        return self.backbone.get_input_embeddings()(ids)

    def forward(
        self,
        embeddings: Float[Tensor, "b l e"],
        mask: Bool[Tensor, "b l"],
        ids: Int[Tensor, "b l"] | None = None,
        weights: Sequence[Float[Tensor, "b l d"] | None] = (),
        types: Int[Tensor, "b l"] | None = None,
        *,
        keeps_padding: bool = False,
        places: RealTokens | None = None,
    ) -> Float[Tensor, "b d"]:
        """Return pooled sentence vectors of word embeddings.

        Parameters
        ----------
        ids
            Token ids, which only prompt pooling needs, to find [MASK].
        weights
            Factors of the outputs of the embedding block (after LayerNorm and dropout) and of the first layers.
        types
            1 for a pair's second sentence, 0 for its first; ignored by encoders without types.
        keeps_padding
            Whether padding is computed too, so that rows of the same tokens get the same vector to the last bit.
        places
            The real tokens; looked up if missing, which waits for a GPU.
        """
        if keeps_padding:
            layout = Padded(mask, is_unread=self.skips_padding and self.training)
            return self._pooled(layout, embeddings, ids, weights, types)

        def encode(embeddings: Tensor, mask: Tensor, ids: Any, types: Any, *weights: Tensor | None) -> Tensor:
            return self._pooled(self.layout(mask, places), embeddings, ids, weights, types)

        return by_chunks(self, encode, self.chunk_size, embeddings, mask, ids, types, *weights)

    def _pooled(
        self,
        layout: Layout,
        embeddings: Float[Tensor, "b l e"],
        ids: Int[Tensor, "b l"] | None,
        weights: Sequence[Float[Tensor, "b l d"] | None],
        types: Int[Tensor, "b l"] | None,
    ) -> Float[Tensor, "b d"]:
        mask, changes = layout.mask, self._weakening(weights, layout)
        wanted = self._pooled_positions(ids, mask)
        if wanted is not None:
            vectors = self.hidden_states(layout, embeddings, types, changes, wanted)
            # A pooler reads the first token of each row.
            return self.backbone.pooler(vectors[:, None]) if self.pooling == "pooler" else vectors
        first: list[Tensor] = []
        if self.pooling == "first_last":
            # A site's changes run in order: this records the first layer's output as the second layer reads it.
            self.require_sites(2)
            changes = {**changes, 1: [*changes.get(1, ()), _recorder(first)]}
        last = self.hidden_states(layout, embeddings, types, changes)
        tokens = layout.restore((first[0] + last) / 2 if first else last)
        return pool_mean(self.convolved(tokens, mask) if self.pooling == "convolved" else tokens, mask)

    def convolved(self, hidden: Float[Tensor, "b l d"], mask: Bool[Tensor, "b l"]) -> Float[Tensor, "b l d"]:
        """Return ReLU(W_n x_n + b_n) side by side, x_n the window of n = 1, 3, 5 tokens.

        Zhang et al. (2020), section 3.1. Beyond the ends of a sentence stands 0; padding means nothing.
        """
        rows, features = hidden.masked_fill(~mask[..., None], 0), list[Tensor]()
        for one in self.convolutions:
            (window,) = one.kernel_size
            windows = F.pad(rows, (0, 0, window // 2, window // 2)).unfold(1, window, 1)
            # A matrix product, as precise and repeatable as the backbone's; cuDNN would use TF32 in float32.
            features.append(F.linear(windows.flatten(2), one.weight.flatten(1), one.bias))
        return torch.relu(torch.cat(features, dim=-1))

    def token_vectors(
        self,
        embeddings: Float[Tensor, "b l e"],
        mask: Bool[Tensor, "b l"],
        types: Int[Tensor, "b l"] | None = None,
        *,
        places: RealTokens | None = None,
    ) -> Float[Tensor, "b l d"]:
        """Return the last hidden states; padding takes no position and means nothing."""

        def read(embeddings: Tensor, mask: Tensor, types: Tensor | None) -> Tensor:
            layout = self.layout(mask, places)
            return layout.restore(self.hidden_states(layout, embeddings, types))

        return by_chunks(self, read, self.chunk_size, embeddings, mask, types)

    def hidden_states(
        self,
        layout: Layout,
        embeddings: Float[Tensor, "b l e"],
        types: Int[Tensor, "b l"] | None = None,
        changes: Changes = MappingProxyType({}),
        wanted: Int[Tensor, " b"] | None = None,
    ) -> Tensor:
        """Return last hidden states in the layout, or [b d] at the positions `wanted`."""
        positions = position_ids(self.backbone, layout.numbers) if self._takes_positions else None
        given = TokenInputs(embeddings, positions, types if self.tells_types else None)
        if isinstance(layout, Packed):
            found: Tensor = self._run_packed(layout, self.backbone, given, changes, wanted)
            return found
        with changed_states(self.layers if changes else (), changes):
            return layout.run(self.backbone, given, wanted)

    def compile_passes(self) -> None:
        """Have torch.compile fuse the passes without padding, for batches of any shape.

        Evaluation uses the passes with padding, whose rows must tie to the last bit.
        """
        self._run_packed = compiled(Packed.run)

    def layout(self, mask: Bool[Tensor, "b l"], places: RealTokens | None = None) -> Layout:
        if not self.skips_padding:
            return Padded(mask)
        if places is None or len(places.mask) != len(mask):  # of the whole batch, and this is a chunk of it
            places = RealTokens.of(mask)
        kind = mask.device.type
        own = next(self.backbone.parameters()).dtype
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else own
        return Packed(places, places.bias(dtype))

    def _pooled_positions(self, ids: Tensor | None, mask: Tensor) -> Int[Tensor, " b"] | None:
        """Return the position that pooling reads in each sentence; None if it reads all."""
        if self.pooling in ("cls", "pooler"):
            return torch.zeros_like(mask[:, 0], dtype=torch.long)
        if self.pooling != "prompt":
            return None
        assert ids is not None, "prompt pooling needs ids"
        assert self.mask_token_id is not None, "prompt pooling needs the id of [MASK]"
        return prompt_positions(ids, self.mask_token_id)

    def _weakening(self, weights: Sequence[Tensor | None], layout: Layout) -> Changes:
        if all(weight is None for weight in weights):
            return {}
        self.require_sites(len(weights))
        known = {site: layout.lay(weight) for site, weight in enumerate(weights) if weight is not None}
        return {site: [_multiplier(weight)] for site, weight in known.items()}


def position_ids(backbone: nn.Module, numbers: Int[Tensor, "*n"]) -> Int[Tensor, "*n"]:
    """Return 0, 1, 2, ... over real tokens, shifted for RoBERTa and its kin."""
    return (numbers + (first_position(backbone) - 1)).clamp(min=0)


def first_position(backbone: nn.Module) -> int:
    """Return the first token's position: 0 for BERT, padding_idx + 1 for RoBERTa."""
    table = getattr(getattr(backbone, "embeddings", None), "position_embeddings", None)
    padding = getattr(table, "padding_idx", None)
    return 0 if padding is None else int(padding) + 1


def _multiplier(weight: Tensor) -> SiteChange:
    # Back to the site's own precision: under bf16 only the mask's gradient stays float32.
    return lambda hidden: (hidden * weight).to(hidden.dtype)


def _recorder(store: list[Tensor]) -> SiteChange:
    def record(hidden: Tensor) -> Tensor:
        store.append(hidden)
        return hidden

    return record
