"""Real tokens of a batch, looked up once for all passes over it."""

from dataclasses import dataclass, field

from rse_study.tensors import Bool, Float, Int, Tensor, torch


@dataclass(frozen=True)
class RealTokens:
    """Indices from the real tokens to their positions among all b * l, and back."""

    mask: Bool[Tensor, "b l"]
    flat: Int[Tensor, " T"]
    """flat indices of the real tokens among all b * l"""
    back: Int[Tensor, " n"]
    """for each of the b * l, its index among the T; for padding any index"""
    numbers: Int[Tensor, " T"]
    """1, 2, ... over the real tokens of each sentence"""
    types: Int[Tensor, " T"]
    """0: every token belongs to the first sentence of its row"""
    _biases: dict["torch.dtype", Tensor] = field(default_factory=dict)

    @classmethod
    def of(cls, mask: Bool[Tensor, "b l"], flat: Int[Tensor, " T"] | None = None) -> "RealTokens":
        """Look the real tokens up, which waits for a GPU, unless `flat` is known."""
        flat = mask.flatten().nonzero().squeeze(1) if flat is None else flat
        among = torch.arange(len(flat), device=mask.device)
        # Neighbours at padding, too: a GPU reads them faster than one token many times.
        anywhere = torch.arange(mask.numel(), device=mask.device) % len(flat)
        numbers = mask.cumsum(1).flatten().index_select(0, flat)
        return cls(mask, flat, anywhere.index_copy(0, flat, among), numbers, torch.zeros_like(flat))

    def bias(self, dtype: "torch.dtype") -> Float[Tensor, "b 1 1 l"]:
        """Return what attention adds to its scores: 0, and -inf at padding."""
        if dtype not in self._biases:
            self._biases[dtype] = self.mask[:, None, None].to(dtype).log()
        return self._biases[dtype]
