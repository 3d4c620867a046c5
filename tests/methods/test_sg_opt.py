"""SG-OPT equals a loop over sentences and layers, loss and gradients, in float64."""

import pytest
import torch
from torch import nn

from rse_study.errors import InputError
from rse_study.methods.sg_opt import SGOPT
from tests.methods.contract import Example, require_reference
from tests.methods.problem import (
    CLS,
    SEP,
    encoders_apart,
    gradients,
    make_batch,
    make_encoder,
    make_networks,
    make_run,
    take_step,
)
from tests.methods.test_cost import calls_of
from tests.reference.sg_opt_reference import distance, reference

TEMPERATURE, HIDDEN, ROUNDING = 0.5, 6, 1e-12
EXAMPLES = {
    "SG-OPT": Example(SGOPT(temperature=TEMPERATURE, hidden=HIDDEN), 1),
    "SG-OPT, without its regulariser": Example(SGOPT(temperature=TEMPERATURE, hidden=HIDDEN, weight=0.0), 1),
}
SETTINGS = {
    "of the example": {},
    "sharp, as published": {"temperature": 0.01},
    "flat": {"temperature": 3.0},
    "weight 0": {"weight": 0.0},
    "weight 1": {"weight": 1.0},
    "wide head": {"hidden": 23},
    "head of one unit": {"hidden": 1},
}
TWICE = [[CLS, 9, 7, 11, SEP], [CLS, 9, 7, 11, SEP], [CLS, 5, SEP], [CLS, 9, 7, 11, SEP]]
BATCHES = {
    "of two sentences": make_batch([[CLS, 9, 7, SEP], [CLS, 5, 13, 8, SEP]], (1, 0)),
    "with equal sentences": make_batch(TWICE, (3, 1, 0, 2)),
    "of equal sentences": make_batch([TWICE[0]] * 3, (2, 0, 1)),
    "of one word each": make_batch([[CLS, 5 + 3 * i, SEP] for i in range(4)], (3, 1, 0, 2)),
    "of special tokens only": make_batch([[CLS, SEP], [CLS], [CLS, SEP]], (1, 2, 0)),
    "with much padding": make_batch(extra_padding=6),
    "of one sentence": make_batch([[CLS, 9, 7, SEP]], (0,)),  # the regulariser alone
}


def method_of(**settings):
    return SGOPT(**{"temperature": TEMPERATURE, "hidden": HIDDEN} | settings)


@pytest.mark.parametrize("switches", SETTINGS.values(), ids=SETTINGS)
def test_a_step_is_the_papers(switches):
    require_reference(reference, method_of(**switches), relative=ROUNDING)
    require_reference(reference, method_of(**switches), views=encoders_apart, relative=ROUNDING)


@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES)
def test_every_batch_is_the_papers(batch):
    require_reference(reference, method_of(), batch, views=encoders_apart, relative=ROUNDING)


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("pooling", ["cls", "mean", "first_last"])
def test_every_encoder_is_the_papers(pooling, layers):
    if (pooling, layers) != ("first_last", 1):  # such an encoder has no second layer, and is refused
        sizes = {"pooling": pooling, "layers": layers}
        require_reference(reference, method_of(), views=encoders_apart, relative=ROUNDING, **sizes)


def test_the_frozen_copy_is_the_encoder_before_training_and_never_moves():
    method, run = method_of(), make_run()
    networks = make_networks(method, run)
    mine, theirs = networks.encoder.state_dict(), networks.other.state_dict()
    assert all(torch.equal(mine[name], theirs[name]) for name in theirs)
    assert not any(parameter.requires_grad for parameter in networks.other.parameters())
    assert distance(networks.encoder.backbone, networks.other.backbone).item() == 0
    before = {name: value.clone() for name, value in networks.other.state_dict().items()}
    take_step(method, networks, make_batch(), run)
    assert not any(
        gradients(networks)[f"other.{name}"].any() for name, _ in networks.other.named_parameters()
    )
    with torch.no_grad():
        for parameter in networks.encoder.parameters():
            parameter.add_(1.0)
    method.after(networks)
    for name, value in networks.other.state_dict().items():
        assert torch.equal(value, before[name]), name


def test_the_frozen_copy_has_no_dropout_in_a_step():
    method, run = method_of(), make_run()
    networks = make_networks(method, run, dropout=0.2)
    modes = []
    for module in networks.other.modules():
        if isinstance(module, nn.Dropout | nn.LayerNorm):
            module.register_forward_pre_hook(lambda module, _: modes.append(module.training))
    take_step(method, networks, make_batch(), run)
    assert modes
    assert not any(modes)


def test_the_head_comes_from_the_stream_of_new_weights():
    """Two runs of one seed begin alike, those of two seeds do not."""
    heads = []
    for seed in (1, 1, 2):
        run = make_run(seed)
        networks = method_of().networks(make_encoder(), run.streams, run.collectives)
        heads.append([parameter.detach() for parameter in networks.head.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(heads[0], heads[1], strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(heads[0], heads[2], strict=True))
    assert sorted(tuple(parameter.shape) for parameter in heads[0]) == sorted([(6, 8), (6,), (8, 6), (8,)])


@pytest.mark.parametrize("chunk_size", [0, 3])
@pytest.mark.parametrize("skips_padding", [True, False])
def test_the_copy_is_read_once_in_any_layout_and_chunks(chunk_size, skips_padding):
    batch, networks = make_batch(extra_padding=2), make_networks(method_of(), make_run(), layers=3)
    networks.other.chunk_size, networks.other.skips_padding = chunk_size, skips_padding
    layer = networks.other.backbone.encoder.layer[0].intermediate
    found = []
    assert calls_of(layer, lambda: found.append(networks.layer_maxima(batch))) == (2 if chunk_size else 1)
    theirs = networks.other.backbone(batch.ids, batch.mask.long(), output_hidden_states=True).hidden_states
    for largest, *states, real in zip(found[0], *theirs, batch.mask, strict=True):
        expected = torch.stack([state[real].amax(0) for state in states])
        torch.testing.assert_close(largest, expected, rtol=0, atol=1e-12)


def test_an_encoder_without_known_layers_is_refused():
    run, encoder = make_run(), make_encoder()
    encoder.layers = []
    with pytest.raises(InputError, match=r"no known sites.*SG-OPT.*Use another encoder"):
        SGOPT().networks(encoder, run.streams, run.collectives)
