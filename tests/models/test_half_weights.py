"""Half weights stand in for the casts of autocast: the same bits, fewer operations."""

from contextlib import nullcontext

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from rse_study.models.backbone import HalfWeights
from tests.methods.problem import make_batch, make_encoder

HALVES = [torch.bfloat16, torch.float16]


class Casts(TorchDispatchMode):
    """How often something is cast."""

    def __init__(self) -> None:
        super().__init__()
        self.number = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.number += func.overloadpacket.__name__ in ("_to_copy", "_foreach_copy_")
        return func(*args, **(kwargs or {}))


def vectors_and_gradients(encoder, half, *, stands_in):
    """Of two passes with gradient, each under an autocast of its own, and of one without."""
    stand_in, batch, found = (
        HalfWeights(encoder, half).standing_in if stands_in else nullcontext,
        make_batch(),
        [],
    )
    for with_gradient in (True, False, True):
        embeddings = encoder.word_embeddings(batch.ids)
        with torch.set_grad_enabled(with_gradient), torch.autocast("cpu", half), stand_in():
            found.append(encoder(embeddings, batch.mask).float())
    gradients = torch.autograd.grad(sum(found).sin().sum(), list(encoder.parameters()), allow_unused=True)
    return [*found, *gradients]


@pytest.mark.parametrize("half", HALVES)
def test_vectors_and_gradients_are_those_of_autocast_to_the_bit(half):
    found = []
    for stands_in in (False, True):
        with Casts() as casts:
            vectors = vectors_and_gradients(make_encoder("mean").float(), half, stands_in=stands_in)
        found.append((vectors, casts))
    (by_autocast, its_casts), (by_copies, casts) = found
    assert [one is None for one in by_copies] == [one is None for one in by_autocast]
    for one, other in zip(by_copies, by_autocast, strict=True):
        assert one is None or (one.dtype == other.dtype == torch.float32 and torch.equal(one, other))
    # 24 weights, in three passes and back in two; or once, and back twice with one operation for each of two layers.
    assert its_casts.number - casts.number == 5 * 24 - 5


def test_a_weight_of_two_maps_is_cast_once_and_has_the_gradient_of_both():
    maps, given = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)), torch.linspace(-1, 1, 6).view(2, 3)
    maps[1].weight = maps[0].weight
    gradients = []
    for stands_in in (False, True):
        maps.zero_grad()
        stand_in = HalfWeights(maps, torch.bfloat16).standing_in if stands_in else nullcontext
        with torch.autocast("cpu", torch.bfloat16), stand_in():
            assert maps[0].weight is maps[1].weight
            maps(given).float().sum().backward()
        gradients.append([parameter.grad for parameter in maps.parameters()])
    for one, other in zip(*gradients, strict=True):
        assert torch.equal(one, other)


def test_names_and_weights_stay_inside_and_after_an_error():
    network = nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2))
    before = dict(network.named_parameters())

    def fail():
        with HalfWeights(network, torch.bfloat16).standing_in():
            assert network[0].weight.dtype == torch.bfloat16
            assert network[1].weight.dtype == torch.float32
            assert all(weight is before[name] for name, weight in network.named_parameters())
            assert network.state_dict()["0.weight"].dtype == torch.float32
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert network[0].weight is before["0.weight"]


def test_what_is_frozen_needs_no_gradient():
    network = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)).requires_grad_(False)
    network[1].requires_grad_(True)
    with HalfWeights(network, torch.bfloat16).standing_in():
        assert [each.weight.requires_grad for each in network] == [False, True]
