"""Complete optimiser steps against the slow reference: every switch of the methods, one flip each."""

import pytest
import torch

from tests.methods.contract import Example, near, require_reference
from tests.methods.problem import MASK, SENTENCES, make_batch, make_networks, make_run, settings, take_step
from tests.methods.step_by_reference import reference
from tests.methods.watching import mean_of, watch_ascents

EXAMPLES = {
    "RobustSentEmbed": Example(settings(masks={"phi": 0.3}), 4),
    "SimCSE": Example(settings(K=0, T=0, lambda1=0.0, lambda2=0.0), 1),
}

FLIPS = {
    "default": {},
    "scaling after": {"token_level": {"scaling": "after"}},
    "scaling none": {"token_level": {"scaling": "none"}},
    "no eta": {"token_level": {"presence": "none"}},
    "special tokens too": {"perturbed_tokens": "all"},
    "special tokens too, weakened": {"perturbed_tokens": "all", "masks": {"phi": 0.3}},
    "write-back last": {"token_level": {"write_back": "last"}},
    "write-back accumulate": {"token_level": {"write_back": "accumulate"}},
    "write-back none": {"token_level": {"write_back": "none"}},
    "K > T": {"K": 3, "T": 1},
    "K < T": {"K": 1, "T": 3},
    "K = 0": {"K": 0, "T": 2},
    "K < T, joint": {"K": 1, "T": 3, "trajectories": "joint_state"},
    "K > T, separate": {"K": 3, "T": 1, "trajectories": "separate"},
    "N = 1": {"K": 1, "T": 1},
    "rho 0": {"rho": 0.0},
    "rho 1": {"rho": 1.0},
    "rho 0.3": {"rho": 0.3},
    "rho 0.3 weighs FGSM": {"rho": 0.3, "weighs": "fgsm"},
    "rho 0 weighs FGSM": {"rho": 0.0, "weighs": "fgsm"},
    "rho weighs FGSM, separate": {"rho": 0.3, "weighs": "fgsm", "trajectories": "separate"},
    "rho 1, separate": {"rho": 1.0, "trajectories": "separate"},
    "rho 1, delta does not see eta": {"rho": 1.0, "delta_gradient": "without_eta"},
    "z_adv with eta": {"z_adv_eta": "with"},
    "negatives included": {"z_adv_negatives": "included"},
    "second positive outside": {"second_positive": "outside"},
    "second positive none": {"second_positive": "none"},
    "outside, included": {"second_positive": "outside", "z_adv_negatives": "included"},
    "lambda1 0": {"lambda1": 0.0},
    "lambda2 0": {"lambda2": 0.0},
    "RobustEmbed": {"lambda2": 0.0, "token_level": {"presence": "none"}},
    "USCAL": {
        "K": 0, "T": 1, "rho": 0.0, "second_positive": "none", "lambda2": 0.0, "token_level": {"presence": "none"},
    },
    "temperature": {"temperature": 0.5},
    "RTD mean over padding": {"rtd": {"reduction": "mean_padding"}},
    "RTD sum": {"rtd": {"reduction": "sum"}},
    "RTD h before the head": {"rtd": {"h": "before_head"}},
    "RTD everywhere": {"rtd": {"positions": "everywhere"}},
    "RTD sample": {"rtd": {"choice": "sample"}},
    "RTD share": {"rtd": {"share": 0.6}},
    "phi, k = 0": {"masks": {"phi": 0.4, "num_layers": 0}},
    "phi, k = 1": {"masks": {"phi": 0.4, "num_layers": 1}},
    "phi, k = 2": {"masks": {"phi": 0.4, "num_layers": 2}},
    "phi, k = 2, sites below k": {"masks": {"phi": 0.4, "sites": "below_k"}},
    "phi, small steps": {"masks": {"phi": 0.2, "step_size": 0.05}},
    # Batch norm spreads four sentences so far that at tau 0.05 the loss is 1e-9, its gradient rounding noise.
    "phi, batch norm": {"masks": {"phi": 0.3}, "head": "batch_norm", "temperature": 0.5},
    "phi, separate, without eta": {
        "masks": {"phi": 0.3}, "trajectories": "separate", "delta_gradient": "without_eta",
    },
    "phi, separate": {"masks": {"phi": 0.3}, "trajectories": "separate"},
    "phi, no eta": {"masks": {"phi": 0.3}, "token_level": {"presence": "none"}},
    "batch norm": {"head": "batch_norm", "temperature": 0.5},
    "batch norm, separate": {"head": "batch_norm", "temperature": 0.5, "trajectories": "separate"},
    "batch norm, no RTD": {"head": "batch_norm", "temperature": 0.5, "lambda2": 0.0},
    "no head": {"head": "none"},
    "N = 0": {"K": 0, "T": 0, "lambda1": 0.0},
    "N = 0, no RTD": {"K": 0, "T": 0, "lambda1": 0.0, "lambda2": 0.0},
    "inner dropout fixed": {"inner_dropout": "fixed"},
    "inner dropout fresh": {"inner_dropout": "fresh"},
    "outer dropout shared": {"outer_dropout": "shared_first", "masks": {"phi": 0.3}},
}  # fmt: skip
FLIPS |= {
    f"{trajectories}, {delta_gradient}": {"trajectories": trajectories, "delta_gradient": delta_gradient}
    for trajectories in ("shared", "joint_state", "separate")
    for delta_gradient in ("with_eta", "without_eta")
}
FLIPS |= {
    f"{norm}, delta per {scope}, {strength}": {
        "norm": norm, "scope": scope, "strength": strength, "radius": RADII[norm, strength],
        "eta_radius": ETA_RADII[norm, strength],
    }
    for RADII, ETA_RADII in [(
        {("l1", "literal"): 0.2, ("l2", "literal"): 0.05, ("linf", "literal"): 0.02}
        | {(norm, "matched"): 0.012 for norm in ("l1", "l2", "linf")},
        {("l1", "literal"): 0.1, ("l2", "literal"): 0.05, ("linf", "literal"): 0.02}
        | {(norm, "matched"): 0.05 for norm in ("l1", "l2", "linf")},
    )]
    for norm in ("l1", "l2", "linf")
    for scope in ("sentence", "token")
    for strength in ("matched", "literal")
}  # fmt: skip
FLIPS |= {
    "eta per sentence": {"eta_scope": "sentence"},
    "l1, eta per sentence": {"norm": "l1", "eta_scope": "sentence", "eta_radius": 0.03},
    "l2, eta per sentence": {"norm": "l2", "eta_scope": "sentence", "eta_radius": 0.03},
    "l1 rescaled": {"norm": "l1", "projection": "rescale", "radius": 0.012},
    "l1 rescaled per token": {"norm": "l1", "projection": "rescale", "radius": 0.012, "scope": "token"},
    "l2 rescaled": {"norm": "l2", "projection": "rescale", "radius": 0.012},
    "linf clipped all the same": {"projection": "rescale", "radius": 0.012},
}


@pytest.fixture
def spied(monkeypatch):
    return watch_ascents(monkeypatch)


@pytest.mark.parametrize("flip", FLIPS.values(), ids=FLIPS)
def test_step_equals_the_reference(flip, spied):
    hold(settings(**flip), make_batch(), spied)


@pytest.mark.parametrize("pooling", ["mean", "first_last", "prompt"])
def test_pooling(pooling, spied):
    sentences = [[*s[:-1], MASK, s[-1]] for s in SENTENCES] if pooling == "prompt" else SENTENCES
    hold(settings(masks={"phi": 0.3}), make_batch(sentences), spied, pooling=pooling)


def test_three_layers(spied):
    hold(settings(masks={"phi": 0.3}, K=3, T=3), make_batch(), spied, layers=3, width=12)


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_projection_is_active_where_it_is_tested(norm):
    for strength in ("matched", "literal"):
        method = settings(**FLIPS[f"{norm}, delta per sentence, {strength}"])
        run = make_run(is_reported=True)
        metrics = take_step(method, make_networks(method, run), make_batch(), run)[0].metrics
        for name in ("delta/on_bound_pgd", "delta/on_bound_fgsm", "eta/on_bound"):
            assert mean_of(metrics[name]) > 0.1, (name, strength)


def hold(method, batch, spied, **sizes):
    """Everything a step gives, against the reference."""
    outcome, state, expected = require_reference(reference, method, batch, **sizes)
    parts = {"contrastive": expected.robust, "adversarial": expected.regulariser, "rtd": expected.rtd}
    for name, part in parts.items():
        if metric := outcome.metrics.get(f"loss/{name}"):
            near(metric.total / metric.count, part, name)
    if method.has_adversary:
        hold_ascent(method, batch, spied[0], expected.ascent, state)


def hold_ascent(method, batch, ascent, expected, state):
    blended, *company = ascent.states
    share = method.blend.share_of_pgd
    near(blended.pgd.start, expected.delta_start, "delta0")
    near(method.blend.mix(blended), expected.delta_final, "delta_final")
    if share > 0:
        near(blended.pgd.delta, expected.delta_pgd, "delta_pgd")
    if share < 1:
        near(blended.fgsm.delta, expected.delta_fgsm, "delta_fgsm")
    if method.has_eta:
        near(company[0].start, expected.eta_start, "eta0")
        near(company[0].delta, expected.eta, "eta")
        near(state["V"], expected.table, "V")
    if method.masks.phi > 0:
        real = batch.mask[:, :, None]
        weights = method.masks.apply(company[-1]).weights()
        assert len(weights) == len(expected.weights)
        for found, weight in zip(weights, expected.weights, strict=True):
            near(found * real, weight * real, "weights")


def test_running_moments_are_moved_by_the_first_view_alone():
    method = settings(head="batch_norm")
    run, batch = make_run(), make_batch()
    networks, twin = make_networks(method, run), make_networks(method, run)
    take_step(method, networks, batch, run)
    pooled = twin.encoder(twin.encoder.word_embeddings(batch.ids), batch.mask, batch.ids)
    norm = torch.nn.BatchNorm1d(8).double()
    hidden = torch.relu(norm(twin.head.first(pooled)))
    second = torch.nn.BatchNorm1d(8, affine=False).double()
    second(twin.head.second(hidden))
    near(networks.head.first_norm.running_mean, norm.running_mean, "mean")
    near(networks.head.first_norm.running_variance, norm.running_var, "variance")
    near(networks.head.second_norm.running_mean, second.running_mean, "second mean")
    near(networks.head.second_norm.running_variance, second.running_var, "second variance")
