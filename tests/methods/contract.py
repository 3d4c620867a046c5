"""The reference of a method: its formula in slow loops, which a step must equal."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch

from rse_study.data.batches import Batch
from rse_study.methods import Method
from rse_study.methods.method import Networks, StepOutcome
from tests.methods.problem import gradients, make_batch, make_networks, make_run, take_step

TOLERANCE = 1e-9
Views = Callable[[Networks], AbstractContextManager[None]]
Reference = Callable[..., Any]
"""(method, networks, batch, run, step) -> the loss, or an object with `loss` and perhaps `gradients` by name."""


@dataclass(frozen=True)
class Example:
    """A method at weights and steps at which all of its parts matter to tiny networks."""

    method: Method
    num_calls: int
    """of the trained encoder: the ascent's, a clean one where it is needed, and the views as rows of one pass"""


def require_reference(
    reference: Reference,
    method: Method,
    batch: Batch | None = None,
    *,
    step: int = 3,
    views: Views = nullcontext,
    relative: float = 0.0,
    **sizes: Any,
) -> tuple[StepOutcome, dict[str, torch.Tensor], Any]:
    """Compare loss and gradients of a step with the reference; return outcome, state and what it found.

    In the context `views_apart` the views of a sentence differ as by dropout. `relative` bounds the difference from
    the loss, and from the largest gradient, by a share of them; 0 compares to 1e-9, as everywhere.
    """
    run, batch = make_run(), make_batch() if batch is None else batch
    networks = make_networks(method, run, **sizes)
    with views(networks):
        found = reference(method, networks, batch, run, step)
    loss = found if isinstance(found, torch.Tensor) else found.loss
    expected = getattr(found, "gradients", None)
    if expected is None:
        networks.zero_grad()
        loss.backward()
        expected = gradients(networks)
    with views(networks):
        outcome, state, actual = take_step(method, networks, batch, run, step)
    largest = max(float(gradient.abs().max()) for gradient in expected.values())
    loss_scale, scale = (abs(loss.item()), largest) if relative else (1.0, max(largest, 1.0))
    tolerance = relative or TOLERANCE
    near(outcome.loss, loss, "loss", loss_scale, tolerance)
    assert largest > 1e-3, "hardly a gradient: nothing is compared"
    for name, gradient in expected.items():
        near(actual[name], gradient, f"gradient of {name}", scale, tolerance)
    return outcome, state, found


def near(
    actual: torch.Tensor, expected: torch.Tensor, what: str, scale: float = 1.0, tolerance: float = TOLERANCE
) -> None:
    """Fail where the step and its reference differ by more than rounding."""
    far = float((actual.detach() - expected.detach()).abs().max())
    assert far <= tolerance * scale, f"{what}: {far:.3g} from the reference"
