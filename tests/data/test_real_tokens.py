"""Real tokens: from their positions and back."""

import torch

from rse_study.data.real_tokens import RealTokens
from tests.methods.problem import make_batch

MASK = torch.tensor([[True, False, True, True], [True, False, False, False], [True, True, False, True]])


def test_a_token_is_found_from_its_position():
    places = RealTokens.of(MASK)
    assert places.flat.tolist() == [0, 2, 3, 4, 8, 9, 11]
    assert places.back[places.flat].tolist() == list(range(7))
    assert places.numbers.tolist() == [1, 2, 3, 1, 1, 2, 3]
    assert places.types.tolist() == [0] * 7


def test_padding_stands_for_some_token_and_not_always_for_the_same():
    at_padding = RealTokens.of(MASK).back[~MASK.flatten()]
    assert 0 <= at_padding.min() < at_padding.max() < 7


def test_the_bias_masks_padding_and_is_made_once_for_each_type():
    places = RealTokens.of(MASK)
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        bias = places.bias(dtype)
        expected = torch.zeros(MASK.shape, dtype=dtype).masked_fill(~MASK, -torch.inf)[:, None, None]
        assert bias.dtype == dtype
        assert torch.equal(bias, expected)
        assert places.bias(dtype) is bias


def test_a_batch_knows_its_places_and_those_of_its_repetitions():
    batch = make_batch()
    assert batch.real_places is batch.real_places
    for each in (batch, batch.repeated(2)):
        assert torch.equal(each.real_places.flat, each.mask.flatten().nonzero().squeeze(1))
