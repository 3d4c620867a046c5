"""BERT-flow (Li et al. 2020; Glow, Kingma & Dhariwal 2018): its map feature by feature, there and back, and log |det|.

Its parts are read in the order in which a flow holds them: per step a bias and a log_scale, a permutation (the only
[n] buffer of whole numbers) and the coupling's three linear maps.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

LEVELS, STEPS = 3, 3


@dataclass(frozen=True)
class Step:
    """One step of flow on [n] features."""

    bias: list[float]
    log_scale: list[float]
    order: list[int]
    net: list[nn.Linear]


def steps_of(flow: nn.Module) -> list[Step]:
    """The nine steps, the first level's first."""
    named = dict(flow.named_parameters())
    ends = [name.removesuffix("log_scale") for name in named if name.endswith("log_scale")]
    orders = [buffer for buffer in flow.buffers() if buffer.dtype == torch.long and buffer.dim() == 1]
    maps = [module for module in flow.modules() if isinstance(module, nn.Linear)]
    assert (len(ends), len(orders), len(maps)) == (9, 9, 27), (
        "a flow has 9 steps of an actnorm and 3 linear maps"
    )
    found = []
    for i, end in enumerate(ends):
        bias, log_scale = named[end + "bias"].tolist(), named[end + "log_scale"].tolist()
        found.append(Step(bias, log_scale, orders[i].tolist(), maps[3 * i : 3 * i + 3]))
    return found


def moved_by(step: Step, a: list[float]) -> list[float]:
    """net(a), what the coupling adds to the second half."""
    values = a
    for number, linear in enumerate(step.net):
        weight, bias = linear.weight.tolist(), linear.bias.tolist()
        sums = [sum(w * v for w, v in zip(row, values, strict=True)) for row in weight]
        values = [total + b for total, b in zip(sums, bias, strict=True)]
        if number < 2:
            values = [max(value, 0.0) for value in values]
    return values


def forward(flow: nn.Module, x: list[float]) -> tuple[list[float], float]:
    """z and log |det dz/dx| of one vector."""
    put_out, rest, log_det = [], list(x), 0.0
    for number, step in enumerate(steps_of(flow)):
        if number in (STEPS, 2 * STEPS):
            half = len(rest) // 2
            put_out, rest = [*put_out, *rest[:half]], rest[half:]
        shifted = [value + bias for value, bias in zip(rest, step.bias, strict=True)]
        rest = [value * math.exp(scale) for value, scale in zip(shifted, step.log_scale, strict=True)]
        log_det += sum(step.log_scale)
        rest = [rest[j] for j in step.order]
        half = len(rest) // 2
        a, b = rest[:half], rest[half:]
        rest = a + [value + by for value, by in zip(b, moved_by(step, a), strict=True)]
    return put_out + rest, log_det


def inverse(flow: nn.Module, z: list[float]) -> list[float]:
    """The x whose z this is: every step undone, the last one first."""
    parts, end = [], list(z)
    for _ in range(LEVELS - 1):
        half = len(end) // 2
        parts, end = [*parts, end[:half]], end[half:]
    for number, step in reversed(list(enumerate(steps_of(flow)))):
        half = len(end) // 2
        a, b = end[:half], end[half:]
        end = a + [value - by for value, by in zip(b, moved_by(step, a), strict=True)]
        before = [0.0] * len(end)
        for place, j in enumerate(step.order):
            before[j] = end[place]
        scaled = [value / math.exp(scale) for value, scale in zip(before, step.log_scale, strict=True)]
        end = [value - bias for value, bias in zip(scaled, step.bias, strict=True)]
        if number in (STEPS, 2 * STEPS):
            end = parts.pop() + end
    return end


def log_det_of_jacobian(flow: nn.Module, x: Tensor) -> Tensor:
    """log |det dz/dx| of one [d] vector, from autograd's Jacobian."""
    jacobian = torch.autograd.functional.jacobian(lambda one: flow(one[None])[0][0], x)
    sign, log_det = torch.linalg.slogdet(jacobian)
    assert sign.item() != 0, "a map that cannot be inverted"
    return log_det
