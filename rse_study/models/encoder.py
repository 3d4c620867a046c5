"""Any bidirectional Hugging Face encoder: word embeddings to a sentence vector.

Word embeddings go in as `inputs_embeds`, before position, type and LayerNorm: perturbing them is then exact.
"""

import inspect
from collections.abc import Sequence
from typing import Any

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from rse_study.models.pooling import PoolingKind, pool_cls, pool_mean, pool_prompt
from rse_study.models.sites import SiteChange, changed_outputs, require_sites


class SentenceEncoder(nn.Module):
    """A backbone without pooler and head, and how its token vectors are pooled."""

    def __init__(self, backbone: nn.Module, pooling: PoolingKind, mask_token_id: int | None = None) -> None:
        super().__init__()
        self.backbone: Any = backbone
        self.pooling = pooling
        self.mask_token_id = mask_token_id
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
        """
        changes = self._weakening(weights)
        first: list[Tensor] = []
        if self.pooling == "first_last":
            # Hooks of one module run in the order given: the first layer is read as the second one reads it.
            changes.append((require_sites(self.backbone, 2)[1], _recorder(first)))
        with changed_outputs(changes):
            last = self.token_vectors(embeddings, mask, types)
        if self.pooling == "cls":
            return pool_cls(last)
        if self.pooling == "prompt":
            assert ids is not None, "prompt pooling needs ids"
            assert self.mask_token_id is not None, "prompt pooling needs the id of [MASK]"
            return pool_prompt(last, ids, self.mask_token_id)
        return pool_mean((first[0] + last) / 2 if first else last, mask)

    def token_vectors(
        self,
        embeddings: Float[Tensor, "b l e"],
        mask: Bool[Tensor, "b l"],
        types: Int[Tensor, "b l"] | None = None,
    ) -> Float[Tensor, "b l d"]:
        """Last hidden states; positions are counted over real tokens.

        So padding changes nothing.

        Parameters
        ----------
        embeddings
            Word embeddings, perturbed or not.
        mask
            True = real token.
        types
            1 for a pair's second sentence, 0 for its first, where the encoder has them.
        """
        extra = {"position_ids": position_ids(self.backbone, mask)} if self._takes_positions else {}
        if types is not None and self.tells_types:
            extra["token_type_ids"] = types
        return self.backbone(inputs_embeds=embeddings, attention_mask=mask.long(), **extra)[0]

    def _weakening(self, weights: Sequence[Tensor | None]) -> list[tuple[nn.Module, SiteChange]]:
        if all(weight is None for weight in weights):
            return []
        sites = require_sites(self.backbone, len(weights))
        return [(site, _multiplier(w)) for site, w in zip(sites, weights, strict=False) if w is not None]


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
