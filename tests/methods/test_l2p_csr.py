"""L2P-CSR equals the loops written from the paper, loss and gradients, in float64."""

from functools import partial

import pytest

from rse_study.methods import L2PCSR
from rse_study.perturbations.ascent import Anchor
from tests.methods.contract import Example, require_reference
from tests.methods.problem import make_batch, make_networks, make_run
from tests.reference import l2p_csr_reference

TEMPERATURE = 0.5  # at 0.05 cosines of random encoders say little
RELEASED = {"num_steps": 4, "step_size": 0.1, "token_step": "sign", "features": "shared"}
EXAMPLES = {
    "L2P-CSR": Example(L2PCSR(temperature=TEMPERATURE), 6),
    "L2P-CSR, released": Example(L2PCSR(temperature=TEMPERATURE, masks={"phi": 0.5, **RELEASED}), 5),
    "L2P-CSR, embedding noise": Example(L2PCSR(perturbs="embeddings", temperature=TEMPERATURE), 6),
}
CASES = {
    "full": ({}, {}),
    "below k": ({"num_layers": 1, "sites": "below_k"}, {"k": 1, "sites": "below_k"}),
    "one step": ({"num_steps": 1, "step_size": 0.2, "phi": 0.4}, {"t": 1, "step_size": 0.2, "phi": 0.4}),
    "no feature mask": ({"features": "none"}, {"variant": "no_feature_mask"}),
    "no token mask": ({"tokens": "none"}, {"variant": "no_token_mask"}),
    "no learning": ({"num_steps": 0, "phi": 0.4}, {"variant": "no_learning", "phi": 0.4}),
    "continual mask": ({"values": "continual"}, {"variant": "continual_mask"}),
    "released": (RELEASED, {}),
}


def anchor_of(networks, batch, step):
    embeddings = networks.encoder.word_embeddings(batch.ids).detach()
    return Anchor(embeddings.repeat(2, 1, 1), batch.repeated(2).all_perturbable(), step)


def reference(method, networks, batch, run, step, **options):
    """The reference with the same weights and draws."""
    count, state = len(batch.rows), method.player.init(anchor_of(networks, batch, step), run.streams)

    def encode(points, weights, view):
        return networks.head(networks.encoder(points, batch.mask, batch.ids, weights))[0]

    if method.perturbs == "embeddings":
        draws = {"noise": (state.delta[:count], state.delta[count:]), "variant": "embedding_noise"}
    else:
        few = 1 if method.masks.features == "shared" else count
        features = [(site[:few], site[count : count + few]) for site in state.features]
        draws = dict(
            p_tok=tuple([site[half] for site in state.tokens] for half in (slice(count), slice(count, None))),
            p_fea=tuple([pair[view] for pair in features] for view in (0, 1)),
        )
    if method.masks.features == "shared":
        options |= l2p_csr_reference.RELEASED | {"phi": method.masks.phi}
    embeddings = networks.encoder.word_embeddings(batch.ids)
    return l2p_csr_reference.step(
        encode, embeddings, real=batch.mask, temperature=TEMPERATURE, **draws, **options
    )


@pytest.mark.parametrize(("masks", "options"), CASES.values(), ids=CASES)
def test_a_step_is_the_papers(masks, options):
    method = L2PCSR(masks=masks, temperature=TEMPERATURE)
    outcome, _, found = require_reference(partial(reference, **options), method)
    for when, loss in zip(
        ("first", "last"), (*found.inner_losses[:1], *found.inner_losses[-1:]), strict=False
    ):
        metric = outcome.metrics[f"inner/{when}"]
        assert float(metric.total) / float(metric.count) == pytest.approx(loss, abs=1e-9)


def test_threshold_zero_without_learning_is_simcse_of_two_views():
    method, run, batch = L2PCSR(masks={"phi": 0.0, "num_steps": 0}), make_run(), make_batch()
    networks = make_networks(method, run)
    outcome = method.step(networks, {}, batch, run, 3)
    z, _ = networks.head(networks.encoder(networks.encoder.word_embeddings(batch.ids), batch.mask, batch.ids))
    assert outcome.loss.item() == pytest.approx(method.contrastive(z, z, batch, run).mean().item(), abs=1e-12)
