"""What a method computes on a way that does not depend on it: the figures on file.

A training of its own would multiply one rounding by its chaos, step after step: on another CPU it ends elsewhere. So
the parameters go a fixed way here, whatever the method says of it, and every step begins at a given place.
"""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import torch

from rse_study.methods import Method
from rse_study.methods.method import Networks
from tests.methods.problem import CLS, SEP, make_batch, make_networks, make_run, with_views

FILE = Path(__file__).with_name("golden_losses.json")
STEPS = 5
STRIDE = 0.02
"""of the way's steps, in standard deviations of a parameter's draw (tests/methods/problem.py: 0.4)"""
TOLERANCE = 1e-10
"""1,000 times float64's rounding (1.1e-16), times the nine hundred or so roundings that add up in a figure"""

Row = list[float]
"""loss, slope of the loss along the way's next step, and a projection of what is carried to the next step"""


@contextlib.contextmanager
def in_float64() -> Iterator[None]:
    """Draw everything in float64: torch's normal numbers in float32 differ between kinds of CPU by some 1e-7."""
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


def record(method: Method, num_views: int = 0) -> list[Row]:
    """The figures of each step, its sentences having so many texts of `views`."""
    with in_float64():
        run = make_run(seed=7)
        networks = make_networks(method, run)
        state = method.state(networks, run.streams)
        way, rows = torch.Generator().manual_seed(3), []
        for step in range(STEPS):
            words = torch.randint(5, 24, (6, 7), generator=run.streams.generator("order", step)).tolist()
            batch = make_batch([[CLS, *row[: 2 + i], SEP] for i, row in enumerate(words)], range(6))
            loss = method.step(networks, state, with_views(batch, num_views), run, step).loss
            slope = _move(networks, loss, way)
            method.after(networks)
            rows.append([loss.item(), slope, _carried(networks, state)])
    return rows


def _move(networks: Networks, loss: torch.Tensor, way: torch.Generator) -> float:
    """Take the way's next step, and say how steep the loss was in its direction."""
    parameters = [parameter for parameter in networks.parameters() if parameter.requires_grad]
    gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
    slope = 0.0
    for parameter, gradient in zip(parameters, gradients, strict=True):
        direction = torch.randn(parameter.shape, generator=way)
        slope += 0.0 if gradient is None else float((gradient * direction).sum())
        parameter.data += STRIDE * direction
    return slope


def _carried(networks: Networks, state: dict[str, torch.Tensor]) -> float:
    """V, running moments, a target that follows: projected on fixed directions, so that nothing cancels."""
    online = {id(parameter) for parameter in networks.parameters() if parameter.requires_grad}
    tensors = [*state.values(), *networks.buffers(), *networks.parameters()]
    fixed = torch.Generator().manual_seed(5)
    return sum(
        float((tensor * torch.randn(tensor.shape, generator=fixed)).sum())
        for tensor in tensors
        if tensor.is_floating_point() and id(tensor) not in online
    )


def on_file() -> dict[str, list[Row]]:
    """The figures of every entry."""
    return json.loads(FILE.read_text())


def largest_move(rows: list[Row], others: list[Row]) -> float:
    """The largest difference between two records, relative to figures above 1."""
    a, b = torch.tensor(rows, dtype=torch.float64), torch.tensor(others, dtype=torch.float64)
    return float(((a - b).abs() / a.abs().clamp(min=1)).max())
