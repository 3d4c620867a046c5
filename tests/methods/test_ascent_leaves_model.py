"""The ascent changes V and nothing else; test_cost.py counts that it computes no gradient of a weight."""

import pytest
import torch

from rse_study.methods import adversary
from rse_study.methods.adversary import Adversary
from rse_study.perturbations.ascent import Anchor
from tests.methods.problem import make_batch, make_networks, make_run, settings

SETTINGS = {
    "default": {},
    "masks": {"masks": {"phi": 0.3}},
    "separate passes": {"trajectories": "separate", "delta_gradient": "without_eta"},
    "batch norm": {"head": "batch_norm"},
    "fixed dropout": {"inner_dropout": "fixed"},
    "fresh dropout": {"inner_dropout": "fresh"},
    "no eta": {"token_level": {"presence": "none"}},
}


def prepared(switches):
    """() -> Found, and the networks: with odd modes, a frozen weight and gradients already there."""
    method, run, batch = settings(**switches), make_run(), make_batch()
    networks = make_networks(method, run, dropout=0.2)
    networks.encoder.backbone.encoder.layer[0].eval()
    networks.encoder.backbone.embeddings.LayerNorm.weight.requires_grad_(False)
    for i, parameter in enumerate(networks.parameters()):
        parameter.grad = torch.full_like(parameter, float(i)) if i % 3 else None
    embeddings = networks.encoder.word_embeddings(batch.ids).detach()
    where = Anchor(embeddings, batch, 3)
    sees_eta = method.delta_gradient == "with_eta" or not method.has_eta
    same = {name: getattr(method, name) for name in ("blend", "token_level", "masks", "temperature")}
    finder = Adversary(**same, dropout=method.inner_dropout, delta_sees_eta=sees_eta)
    table = method.state(networks, run.streams).get("V")
    return networks, lambda: finder.find(networks, table, where, run)


def snapshot(networks):
    """Everything of a network that an ascent could disturb, and torch's global random state."""
    return {
        "random": torch.get_rng_state().tolist(),
        "modes": {name: module.training for name, module in networks.named_modules()},
        "requires_grad": {name: p.requires_grad for name, p in networks.named_parameters()},
        "hooks": {name: len(module._forward_hooks) for name, module in networks.named_modules()},
        "gradients": {n: None if p.grad is None else p.grad.tolist() for n, p in networks.named_parameters()},
        "weights": {name: value.tolist() for name, value in networks.state_dict().items()},
    }


@pytest.mark.parametrize("switches", SETTINGS.values(), ids=SETTINGS)
def test_ascent_leaves_the_model_untouched(switches):
    networks, find = prepared(switches)
    torch.manual_seed(7)
    before = snapshot(networks)
    found = find()
    assert found.delta.abs().max() > 0
    assert not found.delta.requires_grad
    assert found.eta is None or not found.eta.requires_grad
    assert not any(weight.requires_grad for weight in found.weights)
    assert snapshot(networks) == before


def test_an_error_inside_leaves_it_untouched_too(monkeypatch):
    networks, find = prepared({})
    before = snapshot(networks)
    monkeypatch.setattr(adversary, "info_nce", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        find()
    assert snapshot(networks) == before
