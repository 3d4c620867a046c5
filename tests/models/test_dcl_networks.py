"""Power normalisation equals its recurrence, forwards and backwards, and no gradient check."""

import pytest
import torch

from rse_study.models.dcl_networks import PowerNorm
from tests.reference import dcl_reference as reference

WIDTH, ROWS, STEPS, DECAY = 5, 7, 4, 0.9


def rows(step, scale=1.0):
    drawn = torch.Generator().manual_seed(step)
    return scale * torch.randn(ROWS, WIDTH, generator=drawn, dtype=torch.float64)


@pytest.fixture
def norm():
    made = PowerNorm(WIDTH, decay=DECAY).double()
    with torch.no_grad():
        made.gain.copy_(torch.linspace(0.5, 2, WIDTH))
        made.bias.copy_(torch.linspace(-1, 1, WIDTH))
    return made


def test_forward_backward_and_statistics_follow_the_recurrence(norm):
    state = reference.State(psi=torch.ones(WIDTH).double(), nu=torch.zeros(WIDTH).double())
    for step in range(STEPS):
        x, d_y = rows(step, 2.0).requires_grad_(), rows(100 + step)
        norm.zero_grad()
        y = norm(x, records=True)
        y.backward(d_y)
        norm.update()
        gain, bias = norm.gain.detach(), norm.bias.detach()
        scaled, expected = reference.power_forward(x.detach(), gain, bias, state.psi)
        torch.testing.assert_close(y.detach(), expected, rtol=0, atol=1e-12)
        d_x, d_gain, d_bias, nu = reference.power_backward(d_y, scaled, gain, state, DECAY)
        found = [x.grad, norm.gain.grad, norm.bias.grad, norm.nu]
        torch.testing.assert_close(found, [d_x, d_gain, d_bias, nu], rtol=0, atol=1e-12)
        state = reference.State(psi=reference.next_psi(x.detach(), state.psi, DECAY), nu=nu)
        torch.testing.assert_close(norm.psi, state.psi, rtol=0, atol=1e-12)


def test_it_is_not_the_gradient_of_its_forward_pass(norm):
    """With nu = 0, before anything came back, it happens to be; from then on it must not be."""
    assert torch.autograd.gradcheck(lambda x: norm(x), rows(0).requires_grad_())
    norm(rows(0).requires_grad_(), records=True).backward(rows(1))
    norm.update()
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(lambda x: norm(x), rows(0).requires_grad_())


def test_a_pass_that_is_not_recorded_moves_nothing_and_statistics_travel_with_the_weights(norm):
    norm(rows(0).requires_grad_()).sum().backward()
    norm.update()
    assert torch.equal(norm.psi, torch.ones(WIDTH).double())
    assert not norm.nu.any()
    norm(rows(0).requires_grad_(), records=True).sum().backward()
    norm.update()
    other = PowerNorm(WIDTH).double()
    other.load_state_dict(norm.state_dict())
    assert torch.equal(other.psi, norm.psi)
    assert torch.equal(other.nu, norm.nu)


def test_a_second_view_uses_the_same_statistics(norm):
    first, second = rows(0).requires_grad_(), rows(1).requires_grad_()
    a, b = norm(first, records=True), norm(second)
    (a.sum() + b.sum()).backward()
    alone = rows(1).requires_grad_()
    PowerNorm.forward(norm, alone).sum().backward()
    assert torch.equal(second.grad, alone.grad)
