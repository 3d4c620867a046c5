"""The padded layout of a batch; models/packed.py gives the same without padding."""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from rse_study.models.sites import Changes, changed_outputs, find_sites


@dataclass(frozen=True)
class TokenInputs:
    """Inputs of a backbone for each token."""

    embeddings: Float[Tensor, "b l e"]
    positions: Int[Tensor, "*n"] | None
    """in the layout"""
    types: Int[Tensor, "b l"] | None


@dataclass(frozen=True)
class Padded:
    """The layout for any backbone: every sentence as long as the longest one."""

    mask: Bool[Tensor, "b l"]
    is_unread: bool = False
    """whether a GPU's mask is handed on as it is: transformers looks whether there is padding, and waits for that"""

    @property
    def numbers(self) -> Int[Tensor, "b l"]:
        """Return 1, 2, ... over real tokens, and 0 at padding."""
        return self.mask.cumsum(1) * self.mask

    def lay(self, values: Float[Tensor, "b l d"]) -> Float[Tensor, "b l d"]:
        return values

    def restore(self, hidden: Float[Tensor, "b l d"]) -> Float[Tensor, "b l d"]:
        return hidden

    def with_first(
        self, hidden: Float[Tensor, "b l d"], vectors: Float[Tensor, "b d"]
    ) -> Float[Tensor, "b l d"]:
        return torch.cat([vectors[:, None], hidden[:, 1:]], dim=1)

    def run(self, backbone: Any, given: TokenInputs, changes: Changes, wanted: Tensor | None) -> Tensor:
        """Return last hidden states, [b l d], or [b d] at the positions `wanted`."""
        extra = {"position_ids": given.positions, "token_type_ids": given.types}
        known = {name: value for name, value in extra.items() if value is not None}
        mask = self.mask[:, None, None] if self.is_unread and self.mask.is_cuda else self.mask.long()
        with changed_outputs(find_sites(backbone), changes):
            last = backbone(inputs_embeds=given.embeddings, attention_mask=mask, **known)[0]
        return last if wanted is None else last[torch.arange(len(last), device=last.device), wanted]
