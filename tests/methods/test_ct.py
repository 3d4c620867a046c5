"""CT equals a loop over pairs of sentences, loss and gradients of both encoders, in float64."""

import pytest
import torch

from rse_study.methods.ct import CT
from tests.methods.contract import Example, near, require_reference
from tests.methods.problem import (
    CLS,
    SENTENCES,
    SEP,
    encoders_apart,
    make_batch,
    make_networks,
    make_run,
    take_step,
)
from tests.methods.test_cost import calls_of
from tests.reference.ct_reference import dot, negatives, reference, softplus

EXAMPLES = {"CT": Example(CT(), 1), "CT, one negative": Example(CT(num_negatives=1), 1)}
ROUNDING = 1e-12
TWICE = [[CLS, 9, 7, 11, SEP], [CLS, 9, 7, 11, SEP], [CLS, 5, SEP], [CLS, 9, 7, 11, SEP]]
BATCHES = {
    "of different lengths": make_batch(),
    "of one sentence": make_batch([[CLS, 9, 7, SEP]], (0,)),
    "of two sentences": make_batch([[CLS, 9, 7, SEP], [CLS, 5, 13, 8, SEP]], (1, 0)),
    "of equal sentences": make_batch(TWICE, (3, 1, 0, 2)),
    "of special tokens only": make_batch([[CLS, SEP], [CLS], [CLS, SEP]], (1, 2, 0)),
    "of more sentences than K": make_batch([[CLS, *range(5, 7 + i), SEP] for i in range(11)], range(11)),
}


@pytest.mark.parametrize("pooling", ["mean", "cls", "first_last"])
@pytest.mark.parametrize("num_negatives", [1, 2, 3, 7, 100])
def test_a_step_is_the_papers(num_negatives, pooling):
    method = CT(num_negatives=num_negatives)
    require_reference(reference, method, views=encoders_apart, relative=ROUNDING, pooling=pooling)


@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES)
def test_every_batch_is_the_papers(batch):
    for step in (0, 4):
        require_reference(reference, CT(), batch, step=step, views=encoders_apart, relative=ROUNDING)


def test_large_products_keep_their_digits():
    """torch's softplus is x itself above 20, which loses digits of the loss and of its gradient."""
    batch = BATCHES["of more sentences than K"]
    require_reference(reference, CT(), batch, views=encoders_apart, relative=ROUNDING, width=40)


def test_negatives_are_distinct_others_and_change_with_row_and_step():
    run = make_run()
    drawn = [negatives(row, 9, 7, run, step) for row in range(9) for step in range(3)]
    for row, chosen in zip((row for row in range(9) for _ in range(3)), drawn, strict=True):
        assert len(set(chosen)) == 7
        assert set(chosen) <= {*range(9)} - {row}
    assert len(set(map(tuple, drawn))) == len(drawn)


def test_both_encoders_begin_equal_and_are_trained_apart():
    method, run = CT(), make_run()
    networks = make_networks(method, run)
    mine, theirs = networks.encoder.state_dict(), networks.other.state_dict()
    assert mine.keys() == theirs.keys()
    assert all(torch.equal(mine[name], theirs[name]) for name in mine)
    assert all(mine[name].data_ptr() != theirs[name].data_ptr() for name in mine if mine[name].numel())
    gradients = {}
    step = lambda: gradients.update(take_step(method, networks, make_batch(), run)[2])  # noqa: E731
    assert calls_of(networks.other, step) == 1
    for part in ("encoder.", "other."):
        assert any(gradient.any() for name, gradient in gradients.items() if name.startswith(part)), part


def test_each_encoder_has_dropout_masks_of_its_own():
    """f2 in the pass `outer`, f1 in the pass `other`, each one pass over the batch."""
    method, run, batch = CT(), make_run(), make_batch()
    networks = make_networks(method, run, dropout=0.2)
    vectors = {}
    for name, encoder in (("outer", networks.encoder), ("other", networks.other)):
        with run.dropout(3, name, batch.ids.device):
            words = encoder.word_embeddings(batch.ids)
            found = encoder(words, batch.mask, batch.ids, places=batch.real_places)
        vectors[name] = dict(zip(batch.rows.tolist(), found, strict=True))
    expected = torch.zeros((), dtype=torch.float64)
    for row in range(len(SENTENCES)):
        expected = expected + softplus(-dot(vectors["other"][row], vectors["outer"][row]))
        for other in negatives(row, len(SENTENCES), 7, run, 3):
            expected = expected + softplus(dot(vectors["other"][row], vectors["outer"][other]))
    outcome, _, _ = take_step(method, networks, batch, run)
    near(outcome.loss, expected / len(SENTENCES), "loss", tolerance=ROUNDING)
