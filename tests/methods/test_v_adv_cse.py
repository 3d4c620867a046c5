"""V-advCSE equals the loops written from the paper, loss and gradients, in float64."""

from functools import partial

import pytest

from rse_study.methods import VAdvCSE
from rse_study.perturbations.ascent import Anchor
from tests.methods.contract import Example, require_reference
from tests.methods.problem import make_batch, make_networks, make_run
from tests.reference import v_adv_cse_reference

WEIGHT, TEMPERATURE = 0.3, 0.5
EXAMPLES = {
    "V-advCSE": Example(VAdvCSE(weight=WEIGHT, temperature=TEMPERATURE), 4),
    "V-advCSE, similarities": Example(
        VAdvCSE(weight=WEIGHT, temperature=TEMPERATURE, output="similarities"), 4
    ),
}
CASES = {
    "default": ({}, {}),
    "KL": ({"divergence": "kl"}, {"divergence": "kl"}),
    "symmetric KL": ({"divergence": "symmetric_kl"}, {"divergence": "symmetric_kl"}),
    "three steps": ({"r": {"num_steps": 3}}, {"K": 3}),
    "raw": ({"r": {"gradient": "raw", "step_size": 40.0}}, {"gradient": "raw", "step_size": 40.0}),
    "small ball": ({"r": {"ball": {"norm": "l2", "radius": 0.2, "given_for": "l2"}}}, {"radius": 0.2}),
    "linf": ({"r": {"ball": {"norm": "linf", "radius": 0.3, "given_for": "l2"}}}, {"norm": "linf", "radius": 0.3}),
    "linear head": ({"head": "linear_tanh"}, {}),
}  # fmt: skip


class Encode:
    """The networks as the reference calls them; the clean pass leaves its moments for the perturbed ones."""

    def __init__(self, networks, batch):
        self.networks, self.batch, self.moments = networks, batch, None

    def __call__(self, points, view):
        pooled = self.networks.encoder(points, self.batch.mask, self.batch.ids)
        z, moments = self.networks.head(pooled, self.moments if view in ("inner", "perturbed") else None)
        if view == "clean":
            self.moments = tuple(pair.detach() for pair in moments)
        return z


def reference(method, networks, batch, run, step, **words):
    """The reference with the same weights and the same start of r."""
    embeddings = networks.encoder.word_embeddings(batch.ids)
    anchor = Anchor(embeddings.detach(), batch.all_perturbable(), step)
    if method.output == "similarities":
        words["distribution"] = "in_batch"
    return v_adv_cse_reference.step(
        Encode(networks, batch), embeddings, real=batch.mask, r0=method.r.init(anchor, run.streams).delta,
        lambda_=WEIGHT, temperature=TEMPERATURE, key_temperature=TEMPERATURE, **words,
    )  # fmt: skip


@pytest.mark.parametrize("output", ["features", "similarities"])
@pytest.mark.parametrize(("switches", "words"), CASES.values(), ids=CASES)
def test_a_step_is_the_papers(switches, words, output):
    method = VAdvCSE(weight=WEIGHT, temperature=TEMPERATURE, output=output, **switches)
    _, _, found = require_reference(partial(reference, **words), method)
    assert float(found.virtual.detach()) > 1e-6


def test_without_its_weight_it_is_simcse_and_costs_as_much():
    method, run, batch = VAdvCSE(weight=0.0), make_run(), make_batch()
    networks = make_networks(method, run)
    outcome = method.step(networks, {}, batch, run, 3)
    assert set(outcome.metrics) == {"loss", "loss/contrastive"}
    assert method.cost.gradient_passes == 1
