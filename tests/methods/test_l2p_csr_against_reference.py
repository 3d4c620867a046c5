"""L2P-CSR equals the loops written from the paper, loss and gradients, in float64."""

import pytest

from rse_study.methods import L2PCSR
from rse_study.perturbations.ascent import Anchor
from tests.methods.problem import gradients, make_batch, make_networks, make_run
from tests.reference import l2p_csr_reference as reference

TEMPERATURE = 0.5  # at 0.05 cosines of random encoders say little
CASES = {
    "full": ({}, {}),
    "below k": ({"num_layers": 1, "sites": "below_k"}, {"k": 1, "sites": "below_k"}),
    "one step": ({"num_steps": 1, "step_size": 0.2, "phi": 0.4}, {"t": 1, "step_size": 0.2, "phi": 0.4}),
    "no feature mask": ({"features": "none"}, {"variant": "no_feature_mask"}),
    "no token mask": ({"tokens": "none"}, {"variant": "no_token_mask"}),
    "no learning": ({"num_steps": 0, "phi": 0.4}, {"variant": "no_learning", "phi": 0.4}),
    "continual mask": ({"values": "continual"}, {"variant": "continual_mask"}),
    "released": (
        {"num_steps": 4, "step_size": 0.1, "token_step": "sign", "features": "shared"},
        reference.RELEASED,
    ),
}


def anchor_of(networks, batch, step):
    embeddings = networks.encoder.word_embeddings(batch.ids).detach()
    return Anchor(embeddings.repeat(2, 1, 1), batch.repeated(2).all_perturbable(), step)


def ours(method, networks, batch, run, step):
    outcome = method.step(networks, {}, batch, run, step)
    networks.zero_grad()
    outcome.loss.backward()
    return outcome, gradients(networks)


def theirs(method, networks, batch, run, step, **options):
    """The reference with the same weights and draws."""
    count, state = len(batch.rows), method.player.init(anchor_of(networks, batch, step), run.streams)

    def encode(points, weights, view):
        return networks.head(networks.encoder(points, batch.mask, batch.ids, weights))[0]

    if method.perturbs == "embeddings":
        draws = {"noise": (state.delta[:count], state.delta[count:])}
    else:
        few = 1 if method.masks.features == "shared" else count
        features = [(site[:few], site[count : count + few]) for site in state.features]
        draws = dict(
            p_tok=tuple([site[half] for site in state.tokens] for half in (slice(count), slice(count, None))),
            p_fea=tuple([pair[view] for pair in features] for view in (0, 1)),
        )
    embeddings = networks.encoder.word_embeddings(batch.ids)
    found = reference.step(encode, embeddings, real=batch.mask, temperature=TEMPERATURE, **draws, **options)
    networks.zero_grad()
    found.loss.backward()
    return found, gradients(networks)


def hold(method, options):
    run, batch = make_run(), make_batch()
    networks = make_networks(method, run)
    outcome, got = ours(method, networks, batch, run, 3)
    found, expected = theirs(method, networks, batch, run, 3, **options)
    assert outcome.loss.item() == pytest.approx(found.loss.item(), abs=1e-9)
    for name, gradient in expected.items():
        assert float((got[name] - gradient).abs().max()) <= 1e-9, name
    if found.inner_losses:
        for when, loss in (("first", found.inner_losses[0]), ("last", found.inner_losses[-1])):
            metric = outcome.metrics[f"inner/{when}"]
            assert float(metric.total) / float(metric.count) == pytest.approx(loss, abs=1e-9)


@pytest.mark.parametrize(("masks", "options"), CASES.values(), ids=CASES)
def test_a_step_is_the_papers(masks, options):
    hold(L2PCSR(masks=masks, temperature=TEMPERATURE), options)


def test_embedding_noise_is_the_same_ascent_on_another_thing():
    hold(L2PCSR(perturbs="embeddings", temperature=TEMPERATURE), {"variant": "embedding_noise"})


def test_threshold_zero_without_learning_is_simcse_of_two_views():
    method, run, batch = L2PCSR(masks={"phi": 0.0, "num_steps": 0}), make_run(), make_batch()
    networks = make_networks(method, run)
    outcome, _ = ours(method, networks, batch, run, 3)
    z, _ = networks.head(networks.encoder(networks.encoder.word_embeddings(batch.ids), batch.mask, batch.ids))
    assert outcome.loss.item() == pytest.approx(method.contrastive(z, z, batch, run).mean().item(), abs=1e-12)
