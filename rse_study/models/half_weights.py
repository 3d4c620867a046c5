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
PROJECTIONS = ("query", "key", "value")
JOINED = "joined_"
"""beginning of the names by which an attention finds the copies of its projections, one below the other"""


StandIn = tuple[str, nn.Module, str, tuple[nn.Parameter, ...]]
"""A layer, a module in it, the name under which the module finds a copy, and the weights it copies."""


class HalfWeights:
    """Weights and biases of linear maps, as autocast would cast them for each pass.

    Optimiser, checkpoints and names see the weights themselves; these stand in for them inside passes only. With
    `joins`, queries, keys and values are one map: other last bits.
    """

    def __init__(self, network: nn.Module, half: torch.dtype, *, joins: bool = False) -> None:
        self._stand_ins = [
            stand_in for each in network.named_modules() for stand_in in _stand_ins(*each, joins=joins)
        ]
        # By weight: two maps may share theirs.
        self._halves = {
            weights: weights[0].new_empty((sum(map(len, weights)), *weights[0].shape[1:]), dtype=half)
            for *_, weights in self._stand_ins
        }
        parts = [
            part for weights, copy in self._halves.items() for part in copy.split([len(w) for w in weights])
        ]
        with torch.no_grad():
            torch._foreach_copy_(parts, [weight for weights in self._halves for weight in weights])

    @contextmanager
    def standing_in(self) -> Iterator[None]:
        """Let linear maps use the copies; gradients go to the weights themselves."""
        halves = self._with_gradients() if torch.is_grad_enabled() else self._halves
        for _, module, name, weights in self._stand_ins:
            vars(module)[name] = halves[weights]  # found before the parameter of this name
        try:
            yield
        finally:
            for _, module, name, _ in self._stand_ins:
                vars(module).pop(name, None)

    def _with_gradients(self) -> dict[tuple[nn.Parameter, ...], Tensor]:
        halves = dict(self._halves)
        for _, stand_ins in groupby(self._stand_ins, itemgetter(0)):
            if trained := [weights for *_, weights in stand_ins if weights[0].requires_grad]:
                known = [self._halves[weights] for weights in trained]
                cast = _Cast.apply(known, [len(w) for w in trained], *(one for w in trained for one in w))
                halves.update(zip(trained, cast, strict=True))
        return halves


def _stand_ins(name: str, module: nn.Module, *, joins: bool) -> Iterator[StandIn]:
    layer = found[0] if (found := LAYER.match(name)) else ""
    maps = [getattr(module, projection, None) for projection in PROJECTIONS]
    if joins and all(isinstance(each, nn.Linear) and each.bias is not None for each in maps):
        for kind in ("weight", "bias"):
            yield layer, module, JOINED + kind, tuple(getattr(each, kind) for each in maps)
    elif isinstance(module, nn.Linear) and not (joins and name.rpartition(".")[2] in PROJECTIONS):
        for kind, weight in module.named_parameters(recurse=False):
            yield layer, module, kind, (weight,)


class _Cast(torch.autograd.Function):
    """A cast whose result is known. A layer's gradients are cast back by one operation."""

    @staticmethod
    def forward(ctx: Any, halves: list[Tensor], counts: list[int], *weights: Tensor) -> tuple[Tensor, ...]:
        ctx.set_materialize_grads(False)
        ctx.counts = counts
        return tuple(half.detach() for half in halves)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        known = [gradient for gradient in gradients if gradient is not None]
        wide = [torch.empty_like(gradient, dtype=torch.float32) for gradient in known]
        torch._foreach_copy_(wide, known)
        each, parts = iter(wide), list[Tensor | None]()
        for gradient, count in zip(gradients, ctx.counts, strict=True):
            parts += [None] * count if gradient is None else next(each).chunk(count)
        return None, None, *parts
