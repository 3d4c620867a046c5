import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rse_study.data.batches import Batches
from rse_study.data.masking import mask_tokens
from rse_study.errors import InputError
from rse_study.streams import Streams

SHARED = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
seeds, workers = st.integers(0, 1000), st.integers(1, 4)
sizes = st.integers(4, 30) | st.just(60)  # or the whole corpus


@SHARED
@given(seed=seeds, batch_size=sizes, epoch=st.integers(0, 3))
def test_an_epoch_shows_every_sentence_at_most_once(corpus, seed, batch_size, epoch):
    batches = Batches(corpus, batch_size, Streams(seed))
    steps = range(epoch * batches.num_batches, (epoch + 1) * batches.num_batches)
    shown = np.concatenate([batches.sentences(step) for step in steps])
    assert len(set(shown.tolist())) == len(shown) == len(corpus) // batch_size * batch_size


@SHARED
@given(seed=seeds, batch_size=sizes, size=workers, step=st.integers(0, 40))
def test_the_workers_rows_are_one_workers_rows(corpus, seed, batch_size, size, step):
    (alone,) = _workers(corpus, batch_size, Streams(seed), 1, step)
    rows = {}
    for batch in _workers(corpus, batch_size, Streams(seed), size, step):
        assert batch.num_rows == batch_size
        rows |= {int(row): _tokens(batch, i) for i, row in enumerate(batch.rows)}
    assert rows == {int(row): _tokens(alone, i) for i, row in enumerate(alone.rows)}
    assert sorted(rows) == list(range(batch_size))


@SHARED
@given(seed=seeds, batch_size=sizes, size=workers, step=st.integers(0, 40))
def test_rows_hold_the_sentences_they_name_and_masks_tell_the_truth(corpus, seed, batch_size, size, step):
    for rank, batch in enumerate(_workers(corpus, batch_size, Streams(seed), size, step)):
        sentences = Batches(corpus, batch_size, Streams(seed), rank, size).sentences(step)
        lengths = batch.mask.sum(1)
        assert batch.ids.shape[1] == lengths.max()
        assert torch.equal(lengths, lengths.sort().values)
        for i, row in enumerate(batch.rows):
            expected = corpus.row(int(sentences[row])).tolist()
            assert batch.ids[i, batch.mask[i]].tolist() == expected
            assert batch.ids[i, batch.perturbable[i]].tolist() == expected[1:-1]
            assert (batch.ids[i, ~batch.mask[i]] == corpus.meta.pad_id).all()


def test_epochs_differ_and_a_step_is_a_function_of_its_number(corpus):
    batches, again = Batches(corpus, 20, Streams(3)), Batches(corpus, 20, Streams(3))
    assert batches.num_batches == 3
    assert not np.array_equal(batches.sentences(0), batches.sentences(3))
    assert np.array_equal(batches.sentences(7), again.sentences(7))
    assert not np.array_equal(batches.sentences(0), Batches(corpus, 20, Streams(4)).sentences(0))


def test_fewer_sentences_than_a_batch_are_refused(corpus):
    with pytest.raises(InputError, match=r"60 sentences are fewer than a batch of 61.*smaller batch_size"):
        Batches(corpus, 61, Streams(0))
    with pytest.raises(InputError, match="every worker needs a sentence"):
        Batches(corpus, 3, Streams(0), 0, 4)


def test_mask_tokens_keeps_the_shares_of_bert():
    ids, maskable = torch.full((200, 100), 7), torch.ones(200, 100, dtype=torch.bool)
    maskable[:, :10] = False
    generator = torch.Generator().manual_seed(0)
    corrupted, chosen = mask_tokens(ids, maskable, mask_id=4, vocabulary_size=1000, generator=generator)
    assert not (chosen & ~maskable).any()
    assert torch.equal(corrupted[~chosen], ids[~chosen])
    num_chosen = int(chosen.sum())
    assert num_chosen / maskable.sum() == pytest.approx(0.15, abs=0.01)
    assert (corrupted[chosen] == 4).sum() / num_chosen == pytest.approx(0.8, abs=0.02)
    assert (corrupted[chosen] == 7).sum() / num_chosen == pytest.approx(0.1, abs=0.02)


def _workers(corpus, batch_size, streams, size, step):
    return [Batches(corpus, batch_size, streams, rank, size).batch(step) for rank in range(size)]


def _tokens(batch, row):
    return batch.ids[row, batch.mask[row]].tolist()
