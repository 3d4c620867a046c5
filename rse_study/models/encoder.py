"""Any bidirectional Hugging Face encoder: word embeddings to a sentence vector.

Word embeddings go in as `inputs_embeds`, before position, type and LayerNorm: perturbing them is then exact.
"""

import inspect
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from rse_study.models.chunks import by_chunks
from rse_study.models.layout import Layout, Padded, TokenInputs
from rse_study.models.packed import Packed, can_be_packed
from rse_study.models.pooling import PoolingKind, pool_mean, prompt_positions
from rse_study.models.sites import Changes, SiteChange, require_sites


class SentenceEncoder(nn.Module):
    """A backbone without pooler and head, and how its token vectors are pooled."""

    def __init__(self, backbone: nn.Module, pooling: PoolingKind, mask_token_id: int | None = None) -> None:
        super().__init__()
        self.backbone: Any = backbone
        self.pooling = pooling
        self.mask_token_id = mask_token_id
        self.skips_padding = can_be_packed(backbone)
        self.chunk_size = 0
        """most sentences of a pass with gradients of its own; 0: all"""
        self._run_packed: Any = Packed.run
        taken = inspect.signature(backbone.forward).parameters
        self._takes_positions = "position_ids" in taken
        # RoBERTa takes types too, but has one: a pair's second half is none the wiser.
        self.tells_types = "token_type_ids" in taken and getattr(backbone.config, "type_vocab_size", 0) > 1

    @property
    def config(self) -> Any:
        """The backbone's Hugging Face configuration."""
        return self.backbone.config

    @property
    def hidden_size(self) -> int:
        """Width of the pooled vector."""
        return int(self.config.hidden_size)

    @property
    def embedding_size(self) -> int:
        """Width of the word embeddings; ELECTRA's and ALBERT's is not the hidden width."""
        return int(self.backbone.get_input_embeddings().weight.shape[1])

    @property
    def num_layers(self) -> int:
        """Number of transformer layers."""
        return int(self.config.num_hidden_layers)

    def word_embeddings(self, ids: Int[Tensor, "b l"]) -> Float[Tensor, "b l e"]:
        """The lookup alone: no position, no type, no LayerNorm."""
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
        places: Int[Tensor, " T"] | None = None,
    ) -> Float[Tensor, "b d"]:
        """Pooled sentence vectors of word embeddings.

        Parameters
        ----------
        embeddings
            Word embeddings, perturbed or not.
        mask
            True = real token.
        ids
            Serve prompt pooling alone: the position of [MASK].
        weights
            Factors of the embedding block's output, after LayerNorm and dropout (0), and of layer i's (i).
        types
            1 for a pair's second sentence, 0 for its first, where the encoder has them.
        keeps_padding
            Whether padding is computed, too: rows of the same tokens then have the same vector to the last bit.
        places
            Of the real tokens among all b * l; looked up without them, for which a GPU is waited for.
        """
        if keeps_padding:
            return self._pooled(Padded(mask), embeddings, ids, weights, types)
        num_rows = len(mask)

        def encode(embeddings: Tensor, mask: Tensor, ids: Any, types: Any, *weights: Tensor | None) -> Tensor:
            layout = self.layout(mask, places if len(mask) == num_rows else None)
            return self._pooled(layout, embeddings, ids, weights, types)

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
            return self.hidden_states(layout, embeddings, types, changes, wanted)
        first: list[Tensor] = []
        if self.pooling == "first_last":
            # Changes of one site run in the order given: the first layer is read as the second one reads it.
            require_sites(self.backbone, 2)
            changes = {**changes, 1: [*changes.get(1, ()), _recorder(first)]}
        last = self.hidden_states(layout, embeddings, types, changes)
        return pool_mean(layout.restore((first[0] + last) / 2 if first else last), mask)

    def token_vectors(
        self,
        embeddings: Float[Tensor, "b l e"],
        mask: Bool[Tensor, "b l"],
        types: Int[Tensor, "b l"] | None = None,
        *,
        places: Int[Tensor, " T"] | None = None,
    ) -> Float[Tensor, "b l d"]:
        """Last hidden states of real tokens.

        Positions are counted over those, so padding changes nothing; what stands at padding means nothing.

        Parameters
        ----------
        embeddings
            Word embeddings, perturbed or not.
        mask
            True = real token.
        types
            1 for a pair's second sentence, 0 for its first, where the encoder has them.
        places
            Of the real tokens among all b * l; looked up without them.
        """
        num_rows = len(mask)

        def read(embeddings: Tensor, mask: Tensor, types: Tensor | None) -> Tensor:
            layout = self.layout(mask, places if len(mask) == num_rows else None)
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
        """Last hidden states as the layout lays them, or [b d] at the positions wanted.

        Parameters
        ----------
        layout
            Of the batch.
        embeddings
            Word embeddings, perturbed or not.
        types
            1 for a pair's second sentence, 0 for its first, where the encoder has them.
        changes
            What the outputs of sites go through, in the layout.
        wanted
            A real token's position in each sentence; None: all.
        """
        positions = position_ids(self.backbone, layout.mask) if self._takes_positions else None
        given = TokenInputs(embeddings, positions, types if self.tells_types else None)
        run = self._run_packed if isinstance(layout, Packed) else type(layout).run
        found: Tensor = run(layout, self.backbone, given, changes, wanted)
        return found

    def compile_passes(self) -> None:
        """Have torch.compile fuse the passes without padding, for batches of any shape.

        Passes with padding stay as they are: evaluation's, whose rows must tie to the last bit.
        """
        # Dropout draws what it draws without: passes that are to share their masks are compiled each for itself.
        self._run_packed = torch.compile(Packed.run, dynamic=True, options={"fallback_random": True})

    def layout(self, mask: Bool[Tensor, "b l"], places: Int[Tensor, " T"] | None = None) -> Layout:
        """How a batch lies in this encoder: packed where its family can be."""
        if not self.skips_padding:
            return Padded(mask)
        return Packed.of(mask) if places is None else Packed(mask, places)

    def _pooled_positions(self, ids: Tensor | None, mask: Tensor) -> Int[Tensor, " b"] | None:
        """The one position of each sentence that pooling reads; None where it reads all."""
        if self.pooling == "cls":
            return torch.zeros_like(mask[:, 0], dtype=torch.long)
        if self.pooling != "prompt":
            return None
        assert ids is not None, "prompt pooling needs ids"
        assert self.mask_token_id is not None, "prompt pooling needs the id of [MASK]"
        return prompt_positions(ids, self.mask_token_id)

    def _weakening(self, weights: Sequence[Tensor | None], layout: Layout) -> Changes:
        if all(weight is None for weight in weights):
            return {}
        require_sites(self.backbone, len(weights))
        known = {site: layout.lay(weight) for site, weight in enumerate(weights) if weight is not None}
        return {site: [_multiplier(weight)] for site, weight in known.items()}


def position_ids(backbone: nn.Module, mask: Bool[Tensor, "b l"]) -> Int[Tensor, "b l"]:
    """0, 1, 2, ... over real tokens.

    RoBERTa and its kin start after their padding position.
    """
    first = first_position(backbone)
    counted = mask.long().cumsum(1)
    return (counted * mask + (first - 1)).clamp(min=0)


def first_position(backbone: nn.Module) -> int:
    """Position of the first token: 0 for BERT.

    padding_idx + 1 where the table of positions has a padding row (RoBERTa).
    """
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
