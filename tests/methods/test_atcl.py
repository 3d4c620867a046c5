"""ATCL equals the loops written from the paper, loss and gradients, in float64."""

import pytest
import torch

from rse_study.methods.atcl import ATCL
from rse_study.results.manipulation import LIMITS
from tests.methods.contract import Example, near, require_reference
from tests.methods.problem import (
    CLS,
    SEP,
    make_batch,
    make_networks,
    make_run,
    settings,
    take_step,
    views_apart,
)
from tests.methods.watching import mean_of
from tests.reference.atcl_reference import perturbation, reference

TEMPERATURE, ROUNDING = 0.5, 1e-12
EXAMPLES = {
    "ATCL": Example(ATCL(temperature=TEMPERATURE), 2),
    "ATCL, small and heavy": Example(ATCL(temperature=TEMPERATURE, epsilon=0.1, weight=2.0), 2),
}
SETTINGS = {
    "of the paper": {},
    "sharp": {"temperature": 0.05},
    "weight 0": {"weight": 0.0},
    "weight 3": {"weight": 3.0},
    "short": {"epsilon": 1e-3},
    "long": {"epsilon": 20.0},
    "without head": {"head": "none"},
    "batch norm": {"head": "batch_norm"},
}
TWICE = [[CLS, 9, 7, 11, SEP], [CLS, 9, 7, 11, SEP], [CLS, 5, SEP], [CLS, 9, 7, 11, SEP]]
EQUAL = make_batch([[CLS, 9, 7, 11, SEP]] * 4, (2, 0, 3, 1))
BATCHES = {
    "of two sentences": make_batch([[CLS, 9, 7, SEP], [CLS, 5, 13, 8, SEP]], (1, 0)),
    "with equal sentences": make_batch(TWICE, (3, 1, 0, 2)),
    "of one word each": make_batch([[CLS, 5 + 3 * i, SEP] for i in range(4)], (3, 1, 0, 2)),
    "of special tokens only": make_batch([[CLS, SEP], [CLS], [CLS, SEP]], (1, 2, 0)),
    "with much padding": make_batch(extra_padding=6),
}


def method_of(**settings):
    return ATCL(**{"temperature": TEMPERATURE} | settings)


@pytest.mark.parametrize("switches", SETTINGS.values(), ids=SETTINGS)
def test_a_step_is_the_papers(switches):
    require_reference(reference, method_of(**switches), relative=ROUNDING)
    require_reference(reference, method_of(**switches), views=views_apart, relative=ROUNDING)


@pytest.mark.parametrize("pooling", ["mean", "first_last"])
@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES)
def test_every_batch_is_the_papers(batch, pooling):
    require_reference(
        reference, method_of(), batch, views=views_apart, relative=ROUNDING, pooling=pooling, layers=3
    )


def test_a_batch_of_one_sentence_has_no_loss_no_gradient_and_no_perturbation():
    method, run = method_of(), make_run()
    networks = make_networks(method, run)
    outcome, _, gradients = take_step(method, networks, make_batch([[CLS, 9, 7, SEP]], (0,)), run)
    assert outcome.loss.item() == 0
    assert not any(gradient.any() for gradient in gradients.values())


def test_r_has_length_epsilon_over_the_words_of_a_sentence_and_none_elsewhere():
    gradient = torch.randn(5, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    r = perturbation(gradient, [False, True, True, True, False], 0.7)
    near(r.norm(), torch.tensor(0.7, dtype=torch.float64), "length", tolerance=ROUNDING)
    assert not r[[0, 4]].any()
    near(r[1] * gradient[2, 0], gradient[1] * r[2, 0], "one factor for all words", tolerance=ROUNDING)
    assert not perturbation(gradient, [False] * 5, 0.7).any()
    assert not perturbation(0 * gradient, [True] * 5, 0.7).any()


def test_special_tokens_and_padding_are_never_moved():
    """What the encoder reads in its second call, less X; r is as long as epsilon where a sentence has words."""
    method, run, batch = method_of(epsilon=0.3), make_run(), make_batch(extra_padding=3)
    networks = make_networks(method, run)
    read = []
    hook = networks.encoder.register_forward_pre_hook(lambda _, given: read.append(given[0].detach()))
    take_step(method, networks, batch, run)
    hook.remove()
    assert [len(points) for points in read] == [8, 4], "one pass of two views, one of z_adv"
    r = read[1] - networks.encoder.word_embeddings(batch.ids).detach()
    assert not r[~batch.perturbable].any()
    lengths = [0.3 if words.any() else 0.0 for words in batch.perturbable]
    near(r.flatten(1).norm(dim=1), torch.tensor(lengths, dtype=torch.float64), "lengths", tolerance=ROUNDING)


def test_each_of_the_three_views_has_dropout_masks_of_its_own():
    """Four equal sentences in three views are twelve different vectors, even where r is next to nothing."""
    method, run = method_of(epsilon=1e-9), make_run()
    networks = make_networks(method, run, dropout=0.2)
    found = []
    hook = networks.encoder.register_forward_hook(lambda _, given, pooled: found.append(pooled.detach()))
    take_step(method, networks, EQUAL, run)
    hook.remove()
    vectors = torch.cat(found)
    assert len(vectors) == 12
    far = (vectors[:, None] - vectors).norm(dim=2) + torch.eye(12)
    assert far.min() > 1e-3


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
        method, run = method_of(epsilon=epsilon), make_run(is_reported=True)
        outcome, _, _ = take_step(method, make_networks(method, run), make_batch(), run)
        rises.append(mean_of(outcome.metrics["inner/rise"]))
    assert rises[0] < LIMITS["inner/rise"][1] < rises[1]
