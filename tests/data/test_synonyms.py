"""Twins of a batch: which words are replaced, by what, and that nothing else decides it."""

import torch

from rse_study.data.batches import Synonyms, with_synonyms
from rse_study.streams import Streams
from tests.methods.problem import CLS, SEP, make_batch, make_synonyms

LONG = [[CLS, *range(5, 13), SEP], [CLS, 20, SEP], [CLS, SEP]]


def test_a_share_of_the_words_at_least_one_becomes_a_synonym():
    batch, synonyms = make_batch(LONG, range(3)), make_synonyms()
    twin = with_synonyms(batch, synonyms, Streams(0), 4, 0.25)
    changed = twin != batch.ids
    assert changed.sum(1).tolist() == [2, 1, 0]
    for row, place in changed.nonzero().tolist():
        assert int(twin[row, place]) in synonyms.of(int(batch.ids[row, place])).tolist()


def test_part_of_a_longer_word_stays_and_the_first_token_begins_a_word():
    """Token 13 continues the word that 12 begins."""
    batch, synonyms = make_batch([[CLS, 12, 13, SEP]], range(1)), make_synonyms()
    assert not synonyms.replaceable(batch.ids[0], batch.perturbable[0]).any()
    assert synonyms.num_words(batch.ids[0], batch.perturbable[0]) == 1
    assert torch.equal(with_synonyms(batch, synonyms, Streams(0), 0, 1.0), batch.ids)
    batch, synonyms = make_batch([[CLS, 13, 20, SEP]], range(1)), make_synonyms()
    assert synonyms.replaceable(batch.ids[0], batch.perturbable[0]).tolist() == [False, True, True, False]


def test_a_row_is_the_same_in_any_batch():
    synonyms = make_synonyms()
    whole = with_synonyms(make_batch(LONG, (7, 1, 2), num_rows=8), synonyms, Streams(0), 4, 0.5)
    padded = make_batch(LONG[:1], (7,), num_rows=8, extra_padding=3)
    alone = with_synonyms(padded, synonyms, Streams(0), 4, 0.5)
    assert torch.equal(alone[0, : whole.shape[1]], whole[0])
    other = with_synonyms(make_batch(LONG[:1], (7,), num_rows=8), synonyms, Streams(1), 4, 0.5)
    assert not torch.equal(other[0], whole[0])


def test_it_comes_back_from_its_file(tmp_path):
    made = make_synonyms()
    made.save(tmp_path)
    found = Synonyms.open(tmp_path)
    assert found.fingerprint == made.fingerprint
    for name in ("starts", "words", "offsets", "choices"):
        assert torch.equal(getattr(found, name), getattr(made, name))
