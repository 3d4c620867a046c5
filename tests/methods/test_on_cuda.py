"""bf16 against float32 where it is used: the GPU twin of the CPU test in test_state.py."""

import dataclasses

import pytest
import torch

from rse_study.data.batches import Batch
from rse_study.methods.method import StepOutcome
from tests.methods.problem import make_batch, make_networks, make_run, settings, take_step
from tests.methods.watching import mean_of

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
CUDA = torch.device("cuda")


def one_step(*, autocast: bool) -> tuple[StepOutcome, torch.Tensor]:
    """A step at steps far below bf16's spacing; outcome and V."""
    method, run = settings(alpha=1e-5, beta=1e-5, masks={"phi": 0.2}), make_run(is_reported=True)
    run.generator.float().to(CUDA)
    if autocast:
        run = dataclasses.replace(run, autocast=lambda: torch.autocast("cuda", torch.bfloat16))
    networks = make_networks(method, run, width=32).float().to(CUDA)
    batch: Batch = make_batch().to(CUDA)
    outcome, state, gradients = take_step(method, networks, batch, run)
    assert all(gradient.isfinite().all() for gradient in gradients.values())
    return outcome, state["V"]


def test_bf16_steps_as_far_as_float32():
    (full, _), (half, table) = one_step(autocast=False), one_step(autocast=True)
    assert table.dtype == torch.float32
    assert table.device.type == "cuda"
    assert half.loss.dtype == torch.float32
    assert half.loss.item() == pytest.approx(full.loss.item(), rel=0.1)
    for name in ("delta/moved", "delta/moved_fgsm"):
        one, two = (mean_of(outcome.metrics[name]) for outcome in (full, half))
        assert one > 0
        assert two == pytest.approx(one, rel=0.05), name
    assert float(half.metrics["delta/moved"].total) != float(full.metrics["delta/moved"].total)


def test_float32_on_the_gpu_is_float32_on_the_cpu():
    """Draws are made on the CPU whatever the device: only rounding may differ at dropout 0."""
    outcome, table = one_step(autocast=False)
    method, run = settings(alpha=1e-5, beta=1e-5, masks={"phi": 0.2}), make_run(is_reported=True)
    run.generator.float()
    here, state, _ = take_step(method, make_networks(method, run, width=32).float(), make_batch(), run)
    assert outcome.loss.item() == pytest.approx(here.loss.item(), rel=1e-3)
    assert torch.allclose(table.cpu(), state["V"], atol=1e-3)
