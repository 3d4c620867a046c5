"""ATCL equals a loop over sentences, loss and gradients, in float64."""

import pytest
import torch

from rse_study.methods.atcl import ATCL
from rse_study.results.manipulation import LIMITS
from tests.methods.contract import Example
from tests.methods.problem import make_batch, make_networks, make_run, settings, take_step
from tests.methods.watching import mean_of
from tests.reference.atcl_reference import reference

EXAMPLES = {"ATCL": Example(ATCL(epsilon=0.5, weight=0.7, temperature=0.5), 2)}


def moved(method, batch, **sizes):
    """What a step adds to X, and the vectors of its three views."""
    run = make_run()
    networks = make_networks(method, run, **sizes)
    inputs, vectors = [], []

    def note(module, given, pooled):
        inputs.append(given[0].detach())
        vectors.extend(pooled.detach().split(len(batch.ids)))

    networks.encoder.register_forward_hook(note)
    take_step(method, networks, batch, run)
    return inputs[1] - inputs[0][: len(batch.ids)], vectors


def test_r_has_length_epsilon_on_the_tokens_of_a_sentence_and_is_0_elsewhere():
    batch = make_batch()
    r, _ = moved(ATCL(epsilon=0.3), batch)
    lengths = r.flatten(1).norm(dim=1)
    has_content = batch.perturbable.any(1)
    assert not has_content.all()
    assert torch.equal(lengths > 0, has_content)
    torch.testing.assert_close(lengths[has_content], torch.full((3,), 0.3, dtype=torch.float64), rtol=1e-12, atol=0)
    assert not r[~batch.perturbable].any()


def test_its_views_have_dropout_masks_of_their_own():
    _, (z, z_pos, z_adv) = moved(ATCL(epsilon=1e-12), make_batch(), dropout=0.2)
    for one, other in ((z, z_pos), (z, z_adv), (z_pos, z_adv)):
        assert (one - other).abs().amax(1).min() > 1e-3


@pytest.mark.parametrize("head", ["linear_tanh", "batch_norm"])
def test_without_its_second_term_it_is_simcse_to_the_bit(head):
    losses, simcse = [], settings(K=0, T=0, lambda1=0.0, lambda2=0.0, head=head)
    for method in (ATCL(weight=0, head=head), simcse):
        run = make_run()
        networks = make_networks(method, run, dropout=0.2)
        outcome, _, gradients = take_step(method, networks, make_batch(), run)
        losses.append({"loss": outcome.loss.detach(), **gradients, **dict(networks.named_buffers())})
    torch.testing.assert_close(losses[0], losses[1], rtol=0, atol=0)


def test_a_move_that_raises_nothing_is_said_to_have_no_effect():
    rises = []
    for epsilon in (1e-9, 1.0):
        run = make_run(is_reported=True)
        method = ATCL(epsilon=epsilon)
        outcome, _, _ = take_step(method, make_networks(method, run), make_batch(), run)
        rises.append(mean_of(outcome.metrics["inner/rise"]))
    assert rises[0] < LIMITS["inner/rise"][1] < rises[1]
