"""Layers whose initial weights come from a given generator, not the global one."""

import torch
from torch import nn


def seeded_linear(
    in_features: int, out_features: int, generator: torch.Generator, bias: bool = True
) -> nn.Linear:
    """Build nn.Linear with its usual bounds U(-1/sqrt(in), 1/sqrt(in)), in float32."""
    linear = nn.utils.skip_init(nn.Linear, in_features, out_features, bias=bias, dtype=torch.float32)
    bound = in_features**-0.5
    for parameter in (linear.weight, linear.bias):
        if parameter is not None:
            drawn = torch.rand(parameter.shape, generator=generator, dtype=torch.float32)
            parameter.data.copy_((2 * drawn - 1) * bound)
    return linear
