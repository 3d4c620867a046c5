"""Copies of a network's linear maps in half precision, cast once a step."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from typing import Any

import torch
from torch import Tensor, nn

LAYER = re.compile(r".*?\.\d+(?=\.|$)")
"""beginning of a module's name: the layer that holds it"""


class HalfWeights:
    """Weights and biases of linear maps, as autocast would cast them for each pass.

    Optimiser, checkpoints and names see the weights themselves; these stand in for them inside passes only.
    """

    def __init__(self, network: nn.Module, half: torch.dtype) -> None:
        self._places = [
            (layer[0] if (layer := LAYER.match(name)) else "", module, kind, weight)
            for name, module in network.named_modules()
            if isinstance(module, nn.Linear)
            for kind, weight in module.named_parameters(recurse=False)
        ]
        # By weight: two maps may share theirs.
        self._halves = {
            weight: torch.empty_like(weight, dtype=half, requires_grad=False) for *_, weight in self._places
        }
        with torch.no_grad():
            torch._foreach_copy_(list(self._halves.values()), list(self._halves))

    @contextmanager
    def standing_in(self) -> Iterator[None]:
        """Let linear maps use the copies; gradients go to the weights themselves."""
        halves = self._with_gradients() if torch.is_grad_enabled() else self._halves
        for _, module, kind, weight in self._places:
            vars(module)[kind] = halves[weight]  # found before the parameter of this name
        try:
            yield
        finally:
            for _, module, kind, _ in self._places:
                vars(module).pop(kind, None)

    def _with_gradients(self) -> dict[nn.Parameter, Tensor]:
        halves = dict(self._halves)
        for _, places in groupby(self._places, itemgetter(0)):
            if trained := [weight for *_, weight in places if weight.requires_grad]:
                cast = _Cast.apply([self._halves[weight] for weight in trained], *trained)
                halves.update(zip(trained, cast, strict=True))
        return halves


class _Cast(torch.autograd.Function):
    """A cast whose result is known. A layer's gradients are cast back by one operation."""

    @staticmethod
    def forward(ctx: Any, halves: list[Tensor], *weights: Tensor) -> tuple[Tensor, ...]:
        ctx.set_materialize_grads(False)
        return tuple(half.detach() for half in halves)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        known = [gradient for gradient in gradients if gradient is not None]
        wide = [torch.empty_like(gradient, dtype=torch.float32) for gradient in known]
        torch._foreach_copy_(wide, known)
        each = iter(wide)
        return None, *(None if gradient is None else next(each) for gradient in gradients)
