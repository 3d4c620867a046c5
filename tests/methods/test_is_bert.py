"""IS-BERT equals a loop over tokens and sentences, loss and gradients, in float64."""

from contextlib import contextmanager
from dataclasses import replace

import pytest
import torch

from rse_study.methods.is_bert import ISBERT
from tests.methods.contract import Example, near, require_reference
from tests.methods.problem import CLS, SEP, make_batch, make_encoder, make_networks, make_run, take_step
from tests.reference.is_bert_reference import reference, sentence_vector, token_features, window

ROUNDING = 1e-12
EXAMPLES = {"IS-BERT": Example(ISBERT(), 0)}  # its one pass gives token vectors, not pooled ones
TWICE = [[CLS, 9, 7, 11, SEP], [CLS, 9, 7, 11, SEP], [CLS, 5, SEP], [CLS, 9, 7, 11, SEP]]
BATCHES = {
    "of different lengths": make_batch(),
    "of two sentences": make_batch([[CLS, 9, 7, SEP], [CLS, 5, 13, 8, SEP]], (1, 0)),
    "with equal sentences": make_batch(TWICE, (3, 1, 0, 2)),
    "of equal sentences": make_batch([TWICE[0]] * 3, (2, 0, 1)),
    "of special tokens only": make_batch([[CLS, SEP], [CLS], [CLS, SEP]], (1, 2, 0)),
    "of one token each": make_batch([[CLS], [9], [7]], (1, 2, 0)),
    "with much padding": make_batch(extra_padding=6),
    "of fixed shapes": replace(make_batch(extra_padding=6), is_fixed=True),
    "of one sentence": make_batch([[CLS, 9, 7, SEP]], (0,)),  # its own tokens alone
    "of many lengths": make_batch([[CLS, *range(5, 6 + i), SEP] for i in range(8)], range(8)),
}


@contextmanager
def strong_convolutions(networks):
    """Features at which T goes well beyond 20, where torch's softplus is no longer log(1 + e^T); they stay."""
    with torch.no_grad():
        for number, each in enumerate(networks.encoder.convolutions):
            generator = torch.Generator().manual_seed(number)
            each.weight.copy_(torch.randn(each.weight.shape, generator=generator, dtype=torch.float64))
    yield


@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES)
def test_a_step_is_the_papers(batch):
    require_reference(reference, ISBERT(), batch, relative=ROUNDING, pooling="convolved")


@pytest.mark.parametrize("sizes", [{"width": 10}, {"width": 24}, {"layers": 1}], ids=str)
def test_every_encoder_is_the_papers(sizes):
    sizes = {"pooling": "convolved", "relative": ROUNDING} | sizes
    require_reference(reference, ISBERT(), BATCHES["of many lengths"], **sizes)
    require_reference(reference, ISBERT(), views=strong_convolutions, **sizes)


def test_padding_has_no_part_in_a_step_of_an_encoder_that_computes_it():
    @contextmanager
    def padded(networks):
        networks.encoder.skips_padding = False
        yield

    batch = BATCHES["with much padding"]
    require_reference(reference, ISBERT(), batch, views=padded, relative=ROUNDING, pooling="convolved")


@pytest.mark.parametrize("width", [4, 8, 10, 12])
def test_windows_share_the_features_of_a_sentence_vector(width):
    """A third each for windows 3 and 5, the rest for window 1, in the order 1, 3, 5."""
    networks = make_networks(ISBERT(), make_run(), pooling="convolved", width=width)
    third = width // 3
    shapes = [tuple(each.weight.shape) for each in networks.encoder.convolutions]
    assert shapes == [(width - 2 * third, width, 1), (third, width, 3), (third, width, 5)]


def test_the_encoder_embeds_by_its_convolutions_and_reads_no_padding():
    networks = make_networks(ISBERT(), make_run(), pooling="convolved")
    encoder = networks.encoder
    for batch in BATCHES.values():
        for network in (networks.train(), networks.eval()):
            words, given = encoder.word_embeddings(batch.ids), (batch.mask, batch.ids)
            without, computed = (network.encoder(words, *given, keeps_padding=kept) for kept in (False, True))
            for i in range(len(words)):
                features = token_features(encoder, batch.ids[i : i + 1, : int(batch.mask[i].sum())])
                for vector in (without[i], computed[i]):
                    near(vector, sentence_vector(features), "sentence vector", tolerance=ROUNDING)


def test_a_window_counts_its_places_from_the_left_and_ends_at_the_sentence():
    hidden = [torch.tensor([float(10**i)], dtype=torch.float64) for i in range(4)]
    weight = torch.tensor([[[1.0, 2.0, 3.0]]], dtype=torch.float64)
    bias = torch.tensor([-3.0], dtype=torch.float64)
    found = [window(hidden, i, weight, bias).item() for i in range(4)]
    assert found == [2 + 30 - 3, 1 + 20 + 300 - 3, 10 + 200 + 3000 - 3, 100 + 2000 - 3]
    assert window(hidden, 0, -weight, bias).item() == 0


def test_the_convolutions_come_from_the_stream_of_new_weights_and_are_trained():
    """Two runs of one seed begin alike, those of two seeds do not; all their weights have a gradient."""
    weights = []
    for seed in (1, 1, 2):
        run = make_run(seed)
        networks = ISBERT().networks(make_encoder("convolved"), run.streams, run.collectives)
        weights.append([each.weight.detach().clone() for each in networks.encoder.convolutions])
    assert all(torch.equal(a, b) for a, b in zip(weights[0], weights[1], strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(weights[0], weights[2], strict=True))
    networks = make_networks(ISBERT(), make_run(), pooling="convolved")
    _, _, found = take_step(ISBERT(), networks, make_batch(), make_run())
    for i in range(3):
        for part in ("weight", "bias"):
            assert found[f"encoder.convolutions.{i}.{part}"].any(), (i, part)
