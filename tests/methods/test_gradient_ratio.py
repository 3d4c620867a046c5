"""The reported ratio is that of the two terms' own gradients."""

import pytest
import torch

from rse_study.methods import VAdvCSE
from tests.methods.problem import gradients, make_batch, make_networks, make_run


def stepped(**settings):
    """(outcome, all gradients in one vector) of one step of networks that are alike whatever the settings."""
    method = VAdvCSE(**settings)
    run, batch = make_run(), make_batch()
    networks = make_networks(method, run)
    outcome = method.step(networks, {}, batch, run, 3)
    networks.zero_grad()
    outcome.loss.backward()
    return outcome, torch.cat([gradient.flatten() for gradient in gradients(networks).values()])


def test_it_is_what_the_term_adds_to_the_gradient():
    outcome, both = stepped(weight=0.3, ratio_every=4)
    _, contrastive = stepped(weight=0.0)
    told = outcome.metrics["virtual/gradient_ratio"]
    expected = (both - contrastive).norm() / contrastive.norm()
    assert float(told.total / told.count) == pytest.approx(float(expected), rel=1e-6)
    assert expected > 1e-6


def test_looking_changes_no_number_and_happens_when_asked():
    seen, with_it = stepped(weight=0.3, ratio_every=4)
    unseen, without = stepped(weight=0.3, ratio_every=3)
    assert torch.equal(with_it, without)
    assert torch.equal(seen.loss, unseen.loss)
    assert "virtual/gradient_ratio" not in unseen.metrics
    asked, unasked, never = (VAdvCSE(**one) for one in ({"ratio_every": 4}, {}, {"ratio_every": 0}))
    assert asked.fingerprint() != unasked.fingerprint() == never.fingerprint()
