"""Weakening masks: how they are drawn, what they multiply, where they go."""

import pytest
import torch

from rse_study.perturbations.ascent import SiteMask, ascend
from rse_study.perturbations.site_masks import WeakeningMasks
from tests.perturbations.linear import STREAMS, Driver, anchor, linear


def test_probabilities_are_uniform_phi_is_the_share_of_zeros_and_twice_weakened_is_zero():
    where = anchor((60, 60, 60))
    player = WeakeningMasks(phi=0.3)
    masks = player.apply(player.init(where, STREAMS)).masks
    assert len(masks) == 3
    assert float(torch.stack([m.tokens for m in masks]).mean()) == pytest.approx(0.7, abs=0.07)
    site = SiteMask(torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 0.0]]))
    assert site.weights().tolist() == [[[1.0, 0.5], [0.5, 0.0]]]


def test_probability_rises_where_keeping_raises_the_loss_and_stays_in_bounds():
    where, player = anchor(), WeakeningMasks(phi=0.5)
    state = player.init(where, STREAMS)
    found = ascend(linear(0), [player, Driver()], [state, None]).states[0]
    assert bool((found.features >= state.features).all())
    assert float(found.features.max()) <= 1
    assert bool((found.tokens >= state.tokens)[:, where.mask].all())
