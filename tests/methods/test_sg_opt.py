"""SG-OPT equals a loop over sentences and layers, loss and gradients, in float64."""

import pytest
import torch

from rse_study.errors import InputError
from rse_study.methods.sg_opt import SGOPT
from tests.methods.contract import Example
from tests.methods.problem import make_batch, make_encoder, make_networks, make_run, take_step
from tests.methods.test_cost import calls_of
from tests.reference.sg_opt_reference import reference

EXAMPLES = {"SG-OPT": Example(SGOPT(hidden=6, temperature=0.5), 1)}


def test_the_frozen_copy_stays_what_it_was():
    method, run = SGOPT(hidden=6, weight=0.3), make_run()
    networks = make_networks(method, run, dropout=0.2)
    before = {name: value.clone() for name, value in networks.other.state_dict().items()}
    optimizer = torch.optim.AdamW(networks.parameters(), lr=0.1, weight_decay=0.5)
    for step in range(2):
        networks.train()
        assert networks.encoder.training
        assert not any(module.training for module in networks.other.modules())
        take_step(method, networks, make_batch(), run, step)
        optimizer.step()
    assert not any(parameter.requires_grad for parameter in networks.other.parameters())
    assert all(torch.equal(value, before[name]) for name, value in networks.other.state_dict().items())
    moved = networks.encoder.state_dict()
    assert not any(torch.equal(moved[name], before[name]) for name, _ in networks.encoder.named_parameters())


@pytest.mark.parametrize("chunk_size", [0, 3])
@pytest.mark.parametrize("skips_padding", [True, False])
def test_it_reads_the_largest_values_of_what_transformers_calls_hidden_states(chunk_size, skips_padding):
    run, batch = make_run(), make_batch(extra_padding=2)
    networks = make_networks(SGOPT(hidden=6), run, layers=3, dropout=0.2)
    networks.other.chunk_size, networks.other.skips_padding = chunk_size, skips_padding
    found = networks.layer_maxima(batch)
    theirs = networks.other.backbone(batch.ids, batch.mask.long(), output_hidden_states=True).hidden_states
    assert found.shape == (len(batch.ids), 4, 8)
    for i, real in enumerate(batch.mask):
        expected = torch.stack([state[i][real].amax(0) for state in theirs])
        torch.testing.assert_close(found[i], expected, rtol=0, atol=1e-12)
    layer = networks.other.backbone.encoder.layer[0].intermediate
    num_chunks = 2 if chunk_size else 1
    assert calls_of(layer, lambda: networks.layer_maxima(batch)) == num_chunks


def test_every_parameter_of_the_backbone_is_pulled_to_where_it_was():
    found = {}
    for weight in (0.0, 0.3):
        run = make_run()
        networks = make_networks(SGOPT(hidden=6, weight=weight), run)
        with torch.no_grad():
            for parameter in networks.encoder.parameters():
                parameter.mul_(1.1)
        outcome, _, gradients = take_step(SGOPT(hidden=6, weight=weight), networks, make_batch(), run)
        found[weight] = {"loss": outcome.loss.detach()} | gradients
    theirs, distance = dict(networks.other.named_parameters()), 0.0
    for name, parameter in networks.encoder.named_parameters():
        apart = parameter.detach() - theirs[name]
        pull = found[0.3][f"encoder.{name}"] - found[0.0][f"encoder.{name}"]
        torch.testing.assert_close(pull, 2 * 0.3 * apart, rtol=0, atol=1e-9)
        distance += float(apart.square().sum())
    assert float(found[0.3]["loss"] - found[0.0]["loss"]) == pytest.approx(0.3 * distance, rel=1e-9)


def test_an_encoder_without_known_layers_is_refused():
    run, encoder = make_run(), make_encoder()
    encoder.layers = []
    with pytest.raises(InputError, match="no known sites.*SG-OPT.*Use another encoder"):
        SGOPT().networks(encoder, run.streams, run.collectives)
