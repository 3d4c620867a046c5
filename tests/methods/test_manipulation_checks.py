"""What methods, perturbations and terms say about being alive, and that looking changes no number."""

import dataclasses

import pytest
import torch

from rse_study.losses import TERMS
from rse_study.methods import DCL, L2PCSR, METHODS, RobustSentEmbed, VAdvCSE
from rse_study.methods.adversary import ReplacedTokenDetection
from rse_study.perturbations import PERTURBATIONS
from rse_study.results.manipulation import LIMITS
from tests.cases import cases
from tests.conformance.entries import ENTRIES
from tests.methods.problem import (
    CLS,
    SEP,
    make_batch,
    make_networks,
    make_run,
    make_synonyms,
    settings,
    take_step,
)
from tests.methods.watching import mean_of
from tests.slow import mostly_slow

SENTENCES = [[CLS, *range(5 + i, 8 + 2 * i), SEP] for i in range(6)]


def reported(method, sentences=SENTENCES, *, is_reported=True, seed=1, **sizes):
    """Loss, state, gradients and metrics of one step."""
    run = dataclasses.replace(make_run(seed), is_reported=is_reported)
    networks = make_networks(method, run, **sizes)
    outcome, state, gradients = take_step(method, networks, make_batch(sentences, range(len(sentences))), run)
    metrics = {name: mean_of(mean) for name, mean in outcome.metrics.items() if float(mean.count)}
    return {"loss": outcome.loss.detach(), **state, **gradients}, metrics


NAMED = {
    **{f"method {name}": cls for name, cls in METHODS.items()},
    **{f"perturbation {name}": PERTURBATIONS.get(name) for name in PERTURBATIONS},
}


@cases("name", NAMED)
def test_everything_in_a_registry_names_its_checks(name):
    checks = NAMED[name].checks
    assert checks, f"{name}: give it `checks`, which say what must move for it to be alive"
    assert len({check.metric for check in checks}) == len(checks)
    assert all("{}" in check.measure for check in checks)
    assert all(check.reason and check.leaves for check in checks if check.limit is not None)


@cases("name", TERMS)
def test_every_term_names_its_shares(name):
    assert {f"gradient_share/{name}", f"loss_share/{name}"} <= {check.metric for check in TERMS[name]}


@cases("name", METHODS)
def test_the_history_of_a_method_has_every_check_that_it_names_and_each_share_has_one(name):
    found = set()
    for entry in ENTRIES.values():
        if isinstance(entry.method, METHODS[name]):
            found |= reported(entry.method)[1].keys()
    shares = {metric for metric in found if metric.startswith(("loss_share/", "gradient_share/"))}
    assert shares <= {check.metric for check in METHODS[name].checks}, "add share_checks of losses"
    missing = {check.metric for check in METHODS[name].checks} - found
    assert missing <= {"gradient_share/contrastive"}, "entered in no history"
    assert not missing or not issubclass(METHODS[name], RobustSentEmbed | VAdvCSE), "not the only term"


@pytest.mark.parametrize("name", mostly_slow(ENTRIES, fast=["RobustSentEmbed", "V-advCSE", "DCL"]))
def test_a_reported_step_computes_the_numbers_of_any_other(name):
    seen, metrics = reported(ENTRIES[name].method, dropout=0.3)
    unseen, fewer = reported(ENTRIES[name].method, dropout=0.3, is_reported=False)
    torch.testing.assert_close(seen, unseen, rtol=0, atol=0)
    assert {key: metrics[key] for key in fewer} == fewer
    extra = metrics.keys() - fewer.keys()
    assert any(key.startswith("loss_share/") for key in extra)
    assert not any(key.startswith(("loss_share/", "gradient_share/", "inner/rise")) for key in fewer)
    if isinstance(ENTRIES[name].method, RobustSentEmbed):
        assert not any(key.startswith(("delta/", "eta/", "inner/")) for key in fewer)


def masks(phi):
    return L2PCSR(temperature=0.5, masks={"phi": phi, "num_steps": 0, "num_layers": 2})


SYNONYMS = make_synonyms()
NONE_KNOWN = dataclasses.replace(SYNONYMS, offsets=torch.zeros_like(SYNONYMS.offsets))
SEEDS = {"masks/tokens": (2, 2), "rtd/detected": (1, 3)}
SETTINGS = {
    "inner/rise": (settings(alpha=1e-9, beta=1e-9, gamma=1e-9), settings(alpha=0.05, beta=0.05, radius=0.5)),
    "delta/moved": (settings(alpha=1e-4), settings(alpha=1e-2)),
    "delta/on_bound_pgd": (settings(alpha=1.0, radius=1e-4), settings(alpha=1e-3, radius=1.0)),
    "eta/growth": (settings(eta_radius=1e-3), settings()),
    "eta/starved": (
        settings(K=10, T=10, gamma=1e-5, eta_radius=5.0, lambda2=0),
        settings(token_level={"scaling": "after"}),
    ),
    "masks/tokens": (masks(0.01), masks(0.3)),
    "r/moved": (VAdvCSE(weight=0.3, r={"step_size": 1e-6}), VAdvCSE(weight=0.3)),
    "rtd/replaced": (settings(), settings()),
    "rtd/detected": (settings(), settings()),
    "twin/replaced": (DCL(hidden=6, width=4, share=0.5), DCL(hidden=6, width=4, share=0.5)),
    "gradient_share/adversarial": (settings(lambda1=1e-7), settings(lambda1=1.0)),
    "loss_share/adversarial": (settings(lambda1=1e-7), settings(lambda1=1.0)),
    "gradient_share/contrastive": (settings(lambda2=1e9), settings()),
    "loss_share/contrastive": (settings(lambda2=1e9), settings()),
}
JUDGED = {check.metric: check for cls in METHODS.values() for check in cls.checks if check.limit is not None}


def test_every_kind_of_judged_check_is_here():
    untried = {part for part in LIMITS if not any(part in metric for metric in SETTINGS)}
    of_their_own = {metric for metric in JUDGED if not any(part in metric for part in LIMITS)}
    untried |= of_their_own - SETTINGS.keys()
    assert not untried, "give each a setting that is inert and one that is alive"


@cases("metric", SETTINGS)
def test_a_check_refuses_what_is_inert_and_passes_what_is_alive(metric, monkeypatch):
    with monkeypatch.context() as inert:
        if metric == "rtd/replaced":  # a G that is always right
            inert.setattr(ReplacedTokenDetection, "edited", lambda self, batch, run, step: batch.ids)
        if metric == "twin/replaced":
            inert.setattr("tests.methods.problem.make_synonyms", lambda: NONE_KNOWN)
        value = value_of(metric, 0)
    assert JUDGED[metric].is_inert(value), value
    assert not JUDGED[metric].is_inert(value_of(metric, 1)), value_of(metric, 1)


def value_of(metric, which):
    return reported(SETTINGS[metric][which], seed=SEEDS.get(metric, (1, 1))[which])[1][metric]
