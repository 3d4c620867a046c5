"""Sentences without their padding: the vectors, gradients and steps of padded ones, for fewer operations."""

from contextlib import nullcontext

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from rse_study.data.batches import RealTokens
from rse_study.models.backbone import HalfWeights, Packed
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.loading import load_encoder
from rse_study.models.pooling import KINDS as ALL_KINDS
from tests.methods.problem import make_batch, make_encoder

FAMILIES = ["bert", "roberta", "xlm-roberta", "electra"]
KINDS = [kind for kind in ALL_KINDS if kind != "pooler"]  # which these encoders are loaded without
EXACT = {"atol": 1e-10, "rtol": 0}
MASK_ID = 4


def loaded(folder, pooling):
    encoder = load_encoder(folder, "cls")[0].double().eval()
    return SentenceEncoder(encoder.backbone, pooling, MASK_ID)


def packed(mask, layout=Packed, dtype=torch.float64):
    places = RealTokens.of(mask)
    return layout(places, places.bias(dtype))


def both(encoder, compute):
    """What `compute` gives with and without padding."""
    found = []
    for skips in (False, True):
        encoder.skips_padding = skips
        found.append(compute())
    return found


def scattered(encoder, num_rows=5, length=9):
    """Rows whose real tokens stand anywhere, the first position among them; one row has a single one."""
    generator = torch.Generator().manual_seed(3)
    mask = torch.rand(num_rows, length, generator=generator) < 0.6
    mask[:, 0] = True
    mask[1, 1:] = False
    ids = torch.randint(5, 20, mask.shape, generator=generator)
    ids[torch.arange(num_rows), mask.int().cumsum(1).argmax(1)] = MASK_ID
    return ids, mask


@pytest.mark.parametrize("pooling", KINDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_vectors_and_all_gradients_are_those_of_padded_sentences(folders, family, pooling):
    encoder = loaded(folders[family], pooling)
    ids, mask = scattered(encoder)
    torch.manual_seed(0)
    weights = [torch.rand(*ids.shape, encoder.hidden_size).double().requires_grad_() for _ in range(4)]

    def compute():
        point = encoder.word_embeddings(ids).detach().requires_grad_()
        vectors = encoder(point, mask, ids, [weights[0], None, weights[2], None])
        leaves = [point, weights[0], weights[2], *encoder.backbone.encoder.parameters()]
        return vectors, *torch.autograd.grad(vectors.sin().sum(), leaves)

    for padded, packed in zip(*both(encoder, compute), strict=True):
        torch.testing.assert_close(packed, padded, **EXACT)


@pytest.mark.parametrize("pooling", KINDS)
def test_the_output_of_the_last_layer_can_be_weakened(folders, pooling):
    encoder = loaded(folders["bert"], pooling)
    ids, mask = scattered(encoder)
    last = torch.rand(*ids.shape, encoder.hidden_size).double()
    point = encoder.word_embeddings(ids)
    padded, packed = both(encoder, lambda: encoder(point, mask, ids, [None, None, None, last]))
    torch.testing.assert_close(packed, padded, **EXACT)
    assert not torch.allclose(packed, encoder(point, mask, ids))


def test_token_vectors_stand_where_their_tokens_do(folders):
    encoder = loaded(folders["bert"], "cls")
    ids, mask = scattered(encoder)
    padded, packed = both(encoder, lambda: encoder.token_vectors(encoder.word_embeddings(ids), mask))
    torch.testing.assert_close(packed[mask], padded[mask], **EXACT)
    assert bool((packed[~mask] == 0).all())


def test_a_family_with_relative_positions_keeps_its_padding(folders):
    assert not loaded(folders["mpnet"], "cls").skips_padding


def operations(compute):
    with FlopCounterMode(display=False) as counter:
        compute()
    return counter.get_total_flops()


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_padding_and_what_pooling_does_not_read_cost_nothing(folders, pooling):
    """Linear maps of a layer, 8 d^2 + 4 d m a token; of the last one keys and values alone, 4 d^2, where one is read.

    Fused attention is not counted by torch.
    """
    encoder = loaded(folders["bert"], pooling)
    ids, mask = scattered(encoder)
    point = encoder.word_embeddings(ids)
    padded, packed = both(encoder, lambda: operations(lambda: encoder(point, mask)))
    d, m = encoder.hidden_size, encoder.config.intermediate_size
    num_real, layer = int(mask.sum()), 8 * d * d + 4 * d * m
    last = num_real * layer if pooling == "mean" else num_real * 4 * d * d + len(mask) * (layer - 4 * d * d)
    assert padded == 3 * mask.numel() * layer
    assert packed == 2 * num_real * layer + last


@pytest.mark.parametrize("pooling", KINDS)
def test_padding_that_is_computed_moves_no_vector_and_has_no_gradient(folders, pooling):
    encoder = loaded(folders["bert"], pooling)
    ids, mask = scattered(encoder)
    others = (~mask).flatten().nonzero()[:, 0]
    found = []
    for number in (0, 1, 4, len(others)):
        chosen = mask.flatten().clone()
        chosen[others[:number]] = True
        places = RealTokens.of(mask, chosen.nonzero()[:, 0])
        encoder.zero_grad()
        words = encoder.word_embeddings(ids).detach().requires_grad_()
        vectors = encoder(words, mask, ids, places=places)
        vectors.square().sum().backward()
        weights = [each.grad for each in encoder.parameters() if each.grad is not None]
        found.append([vectors.detach(), words.grad, *weights])
        assert not words.grad[~mask].any()
        assert words.grad[mask].any()
    for other in found[1:]:
        for value, expected in zip(other, found[0], strict=True):
            torch.testing.assert_close(value, expected, **EXACT)


# Half weights stand in for the casts of autocast: the same bits, fewer operations.


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
