"""The contrastive loss: its formula, what is left of it in float32, and its edges."""

import pytest
import torch
from torch.nn.functional import normalize

from rse_study.losses import info_nce

TAU = 0.05


def plain(z, positives, others, own):
    """-log(sum_p e^p / (sum_p e^p + sum_j e^n)), as it is printed."""
    cosines = torch.einsum("pbd,bd->bp", normalize(positives, dim=-1), normalize(z, dim=-1)) / TAU
    away = (normalize(z, dim=-1) @ normalize(others, dim=-1).T / TAU).exp() * ~own
    top = cosines.exp().sum(1)
    return -(top / (top + away.sum(1))).log()


def problem(num_positives=1, spread=1.0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(6, 8, generator=generator, dtype=torch.float64)
    noise = torch.randn(num_positives, 6, 8, generator=generator, dtype=torch.float64)
    positives = z + spread * noise
    return [x.to(dtype) for x in (z, positives, positives[0])], torch.eye(6, dtype=torch.bool)


@pytest.mark.parametrize("num_positives", [1, 2])
def test_it_is_the_printed_formula(num_positives):
    (z, positives, others), own = problem(num_positives)
    z.requires_grad_()
    ours, theirs = info_nce(z, positives, others, own, TAU), plain(z, positives, others, own)
    torch.testing.assert_close(ours, theirs, atol=1e-12, rtol=1e-10)
    gradients = [torch.autograd.grad(losses.sum(), z)[0] for losses in (ours, theirs)]
    torch.testing.assert_close(*gradients, atol=1e-10, rtol=1e-10)


def test_a_small_loss_keeps_its_digits_in_float32():
    """Written as a difference of two logs, losses of 1e-7 came out as 0 or twice themselves."""
    exact, own = problem(spread=0.01)
    found = []
    for dtype in (torch.float64, torch.float32):
        z, positives, others = (x.to(dtype) for x in exact)
        z = (z + (positives[0] - z) * 0.5).requires_grad_()
        losses = info_nce(z, positives, others, own, 0.02)
        found.append((losses.double(), torch.autograd.grad(losses.sum(), z)[0].double()))
    (loss, gradient), (loss32, gradient32) = found
    assert 0 < loss.min() < 1e-6, "small enough to show it"
    torch.testing.assert_close(loss32, loss, rtol=2e-4, atol=0)
    for row32, row in zip(gradient32, gradient, strict=True):
        assert (row32 - row).norm() <= 2e-4 * row.norm()


def test_an_anchor_without_negatives_has_no_loss_and_a_zero_vector_cosine_zero():
    z = torch.ones(1, 4, requires_grad=True)
    others = torch.full((1, 4), 2.0, requires_grad=True)
    losses = info_nce(z, others[None], others, torch.tensor([[True]]), TAU)
    assert losses.item() == 0
    assert all(bool((g == 0).all()) for g in torch.autograd.grad(losses.sum(), [z, others]))
    (z, positives, others), own = problem()
    z[2] = 0
    losses = info_nce(z, positives, others, own, TAU)
    assert losses[2].item() == pytest.approx(torch.tensor(6.0).log().item())
