import pytest
import torch
from torch import nn

from rse_study.errors import InputError
from rse_study.models.rtd import HEADS, BatchNorm, Moments, build_head
from rse_study.tensors import Alone

WIDTH = 6


def head_of(kind, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return build_head(kind, WIDTH, generator, Alone()).double()


@pytest.fixture
def x():
    return torch.randn(9, WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize("kind", list(HEADS))
def test_weights_come_from_the_generator_alone(kind, x):
    before = torch.random.get_rng_state()
    first, again, other = head_of(kind), head_of(kind), head_of(kind, 1)
    assert torch.equal(before, torch.random.get_rng_state())
    assert torch.equal(first(x)[0], again(x)[0])
    assert kind == "none" or not torch.equal(first(x)[0], other(x)[0])


@pytest.mark.parametrize("affine", [True, False])
def test_batch_norm_equals_torchs(affine, x):
    ours, theirs = BatchNorm(WIDTH, affine).double(), nn.BatchNorm1d(WIDTH, affine=affine).double()
    if affine:
        with torch.no_grad():
            ours.gain.copy_(torch.rand(WIDTH)), ours.bias.copy_(torch.rand(WIDTH))
            theirs.weight.copy_(ours.gain), theirs.bias.copy_(ours.bias)
    for shift in (0.0, 5.0):
        mine, other = (x + shift).clone().requires_grad_(), (x + shift).clone().requires_grad_()
        y, moments = ours(mine)
        expected = theirs(other)
        torch.testing.assert_close(y, expected, atol=1e-12, rtol=0)
        y.pow(3).sum().backward(), expected.pow(3).sum().backward()
        torch.testing.assert_close(mine.grad, other.grad, atol=1e-10, rtol=0)
        ours.update(moments)
    torch.testing.assert_close(ours.running_mean, theirs.running_mean)
    torch.testing.assert_close(ours.running_variance, theirs.running_var)
    torch.testing.assert_close(ours(x, running(ours))[0], theirs.eval()(x), atol=1e-12, rtol=0)


def running(norm):
    return Moments(norm.running_mean, norm.running_variance, torch.zeros(()))


def test_batch_norm_head_is_the_mlp_of_the_methods(x):
    head = head_of("batch_norm")
    linear, other = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(2))
    last = nn.BatchNorm1d(WIDTH, affine=False)
    mlp = nn.Sequential(linear, nn.BatchNorm1d(WIDTH), nn.ReLU(), other, last).double()
    mlp[0].weight.data.copy_(head.first.weight), mlp[3].weight.data.copy_(head.second.weight)
    y, moments = head(x)
    torch.testing.assert_close(y, mlp(x), atol=1e-12, rtol=0)
    head.update(moments)
    torch.testing.assert_close(
        head(x, (running(head.first_norm), running(head.second_norm)))[0], mlp.eval()(x), atol=1e-12, rtol=0
    )


def test_given_moments_make_rows_independent_and_only_update_moves_the_running_ones(x):
    head = head_of("batch_norm")
    _, moments = head(x)
    frozen = tuple(m.detach() for m in moments)
    assert not any(value.requires_grad for m in frozen for value in m)
    torch.testing.assert_close(head(x, frozen)[0][:1], head(x[:1], frozen)[0], atol=1e-12, rtol=0)
    state = {key: value.clone() for key, value in head.state_dict().items()}
    head.train(), head(x), head.eval(), head(x)
    assert all(torch.equal(value, state[key]) for key, value in head.state_dict().items())
    head.update(moments)
    assert not torch.equal(head.first_norm.running_mean, state["first_norm.running_mean"])


def test_half_precision_is_normalised_in_float32_and_an_unknown_head_gets_a_hint():
    y, moments = BatchNorm(WIDTH, affine=True)(torch.randn(4, WIDTH).bfloat16())
    assert y.dtype == moments.mean.dtype == torch.float32
    with pytest.raises(InputError, match="Did you mean 'linear_tanh'"):
        build_head("linear_tan", WIDTH, torch.Generator(), Alone())
