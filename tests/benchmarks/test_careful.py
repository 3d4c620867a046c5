"""The careful plain step computes what the plain transcription computes."""

import copy
from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close
from transformers import BertModel

from benchmarks.careful import CarefulRobustSentEmbed
from benchmarks.counting import Launches
from benchmarks.launches import Phases
from benchmarks.plain import PlainBatch, PlainRobustSentEmbed, PlainSettings, draw
from tests.tiny_models import random_bert

NUM_TOKENS = 40
# No dropout; weights and steps at which sentences differ and bounds are reached.
RATES = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "initializer_range": 0.3}
SETTINGS = {"alpha": 1e-2, "beta": 5e-3, "gamma": 0.1, "rho": 0.3, "lambda1": 0.2, "lambda2": 0.3, "lr": 1e-3}
CLOSE = {"atol": 1e-9, "rtol": 1e-9}


def both(**changes):
    """Both models with the same weights, V and generator."""
    backbone = random_bert(NUM_TOKENS, lambda config: BertModel(config, add_pooling_layer=False), **RATES)
    generator = random_bert(NUM_TOKENS, seed=1, **RATES).eval().double()
    settings = PlainSettings(**SETTINGS | changes)
    torch.manual_seed(0)
    plain, careful = (
        kind(copy.deepcopy(backbone), settings, generator).double()
        for kind in (PlainRobustSentEmbed, CarefulRobustSentEmbed)
    )
    careful.load_state_dict(plain.state_dict())
    return plain, careful


def batch():
    """Sentences of several lengths, some of whose words occur more than once."""
    generator = torch.Generator().manual_seed(0)
    lengths = torch.tensor([12, 5, 9, 3, 12, 7])
    ids = torch.randint(5, NUM_TOKENS, (6, 12), generator=generator)
    mask = torch.arange(12) < lengths[:, None]
    perturbable = mask & (torch.arange(12) > 0) & (torch.arange(12) < lengths[:, None] - 1)
    return PlainBatch(ids.masked_fill(~mask, 0), mask, perturbable)


@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.parametrize("detects", [False, True], ids=["contrastive", "rtd"])
@pytest.mark.parametrize("num_steps", [0, 5])
def test_a_step_has_the_loss_and_leaves_the_weights_of_a_plain_step(num_steps, detects, pooling):
    off = {} if detects else {"lambda2": 0.0}
    plain, careful = both(num_steps=num_steps, pooling=pooling, **off)
    before = copy.deepcopy(plain.state_dict())
    draws = draw(batch(), plain)
    assert_close(careful.step(batch(), draws), plain.step(batch(), draws), **CLOSE)
    assert_close(careful.state_dict(), plain.state_dict(), **CLOSE)
    assert torch.equal(plain.V, before["V"]) == (num_steps == 0)
    assert not torch.equal(plain.head[0].weight, before["head.0.weight"])


def test_gradients_are_those_of_the_plain_loss():
    plain, careful = both()
    draws = draw(batch(), plain)
    for model in (plain, careful):
        model.loss(batch(), draws).backward()
    gradients = {name: weight.grad for name, weight in plain.named_parameters() if weight.grad is not None}
    assert len(gradients) > 50
    assert_close({name: careful.get_parameter(name).grad for name in gradients}, gradients, **CLOSE)


@pytest.mark.parametrize("kind", [PlainRobustSentEmbed, CarefulRobustSentEmbed])
def test_bf16_moves_every_weight_as_float32_does(kind):
    """If autocast kept casts of the pass without gradient, the encoder would have none."""
    models = {type(model): model for model in both(lambda2=0.0)}
    model, draws = models[kind].float(), draw(batch(), models[kind].float())
    gradients = {}
    for precision in ("float32", "bf16"):
        model.settings = replace(model.settings, precision=precision)
        model.zero_grad()
        model.loss(batch(), draws).backward()
        gradients[precision] = {name: weight.grad for name, weight in model.named_parameters()}
    for name, exact in gradients["float32"].items():
        if exact.norm() > 1e-3:
            assert torch.cosine_similarity(gradients["bf16"][name].flatten(), exact.flatten(), dim=0) > 0.9, (
                name
            )


def test_it_launches_less_than_a_third_of_the_plain_step_in_four_phases():
    numbers = {}
    for model in both():
        draws = draw(batch(), model)
        model.step(batch(), draws)
        with Launches(Phases()) as launches:
            model.step(batch(), draws)
        assert launches.by_phase.keys() == {"inner", "forward", "backward", "after"}
        numbers[type(model)] = launches.number
    assert 3 * numbers[CarefulRobustSentEmbed] < numbers[PlainRobustSentEmbed]
