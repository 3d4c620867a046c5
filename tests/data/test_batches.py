"""Batches of a corpus, their draws and the places of their real tokens."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rse_study.data.batches import NUM_SHAPES, Batch, Batches, Draws, RealTokens, mask_tokens
from rse_study.errors import InputError
from rse_study.streams import Streams
from tests.methods.problem import make_batch

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


def fixed(corpus, batch_size=20, seed=3):
    return Batches(corpus, batch_size, Streams(seed), are_fixed=True)


@SHARED
@given(seed=seeds, step=st.integers(0, 40))
def test_fixed_batches_have_the_tokens_of_others_and_all_one_shape(corpus, seed, step):
    plain, same = Batches(corpus, 20, Streams(seed)).batch(step), fixed(corpus, seed=seed).batch(step)
    length = plain.ids.shape[1]
    for name in ("ids", "mask", "perturbable"):
        assert torch.equal(getattr(same, name)[:, :length], getattr(plain, name)), name
    assert same.ids.shape == (20, corpus.meta.max_length)
    assert not same.mask[:, length:].any()
    assert (same.ids[:, length:] == corpus.meta.pad_id).all()
    assert torch.equal(same.rows, plain.rows)


@SHARED
@given(seed=seeds, times=st.integers(1, 3))
def test_places_of_fixed_batches_are_rounded_up_by_the_first_others_of_each_repetition(corpus, seed, times):
    batch = fixed(corpus, seed=seed).batch(0)
    size, multiple = batch.ids.numel(), -(-batch.ids.numel() // NUM_SHAPES)
    places = batch.repeated(times).places_of(batch.mask.repeat(times, 1))
    once = batch.places_of(batch.mask)
    assert torch.equal(places, torch.cat([once + size * i for i in range(times)]))
    real, others = batch.mask.flatten().nonzero()[:, 0], (~batch.mask).flatten().nonzero()[:, 0]
    more = -len(real) % multiple
    assert torch.equal(once, torch.cat([real, others[:more]]).sort().values)
    assert len(once) == min(len(real) + more, size)
    assert torch.equal(batch.repeated(times).real_places.flat, places)


def test_chosen_tokens_of_fixed_shapes_are_all_of_which_some_count(corpus):
    for is_fixed in (False, True):
        batch = Batches(corpus, 20, Streams(3), are_fixed=is_fixed).batch(0)
        values = torch.arange(1.0, batch.ids.numel() * 2 + 1).view(*batch.ids.shape, 2)
        for each, value in ((batch, values), (batch.repeated(2), values.repeat(2, 1, 1))):
            chosen = each.perturbable_places
            n = each.ids.numel() if is_fixed else int(each.perturbable.sum())
            picked, ones = chosen.of(value), chosen.ones(torch.float64)
            assert picked.shape == (n, 2)
            assert (ones.dtype, ones.shape, int(ones.sum())) == (
                torch.float64,
                (n,),
                int(each.perturbable.sum()),
            )
            counted = picked[ones.bool()]
            assert torch.equal(counted, value[each.perturbable])
            assert not picked[~ones.bool()].any()
            assert torch.equal(chosen.of(each.ids)[ones.bool()], each.ids[each.perturbable])


CPU = torch.device("cpu")


@pytest.fixture
def batch(corpus) -> Batch:
    return Batches(corpus, 20, Streams(3), are_fixed=True).batch(0)


def noise(host, step):
    """A draw that is keyed by row and step, and knows the batch's size."""
    numbers = [
        torch.rand(2, generator=Streams(0).generator("views", step, row)) for row in host.rows.tolist()
    ]
    return torch.stack(numbers), host.perturbable.sum(1)


def taken(batch: Batch, draws: Draws | None, step: int = 4) -> list[torch.Tensor]:
    """The same draw for a batch and for batches that are made from it."""
    mine = replace(batch, draws=draws)
    several = (mine, mine.repeated(2), mine.all_perturbable(), mine.all_perturbable().repeated(2))
    return [value for each in several for value in each.drawn("noise", step, noise)]


def same(found: list[torch.Tensor], expected: list[torch.Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))


def test_what_one_step_needed_is_made_ahead_for_the_next(batch, corpus):
    makers: dict = {}
    first = Draws(batch, 4, CPU, makers)
    first.make_all()
    assert not first.made  # nobody knows yet
    assert same(taken(batch, first), taken(batch, None))
    names = ["noise", "repeated 2/noise", "all/noise", "all/repeated 2/noise"]
    assert [*first.made] == [*makers] == names

    following = Batches(corpus, 20, Streams(3), are_fixed=True).batch(5)
    ahead = Draws(following, 5, CPU, makers)
    ahead.make_all()
    assert [*ahead.made] == names
    ahead.host = None  # as in a recorded step
    assert same(taken(following, ahead, 5), taken(following, None, 5))
    assert not same(taken(following, ahead, 5), taken(batch, first))


def test_without_the_batch_on_the_host_a_new_draw_is_refused_by_its_name(batch):
    draws = Draws(batch, 4, CPU, {})
    taken(batch, draws)
    draws.host = None
    taken(batch, draws)
    with pytest.raises(AssertionError, match="repeated 3/noise is drawn inside a recorded step"):
        replace(batch, draws=draws).repeated(3).drawn("noise", 4, noise)


MASK = torch.tensor([[True, False, True, True], [True, False, False, False], [True, True, False, True]])


def test_a_token_is_found_from_its_position():
    places = RealTokens.of(MASK)
    assert places.flat.tolist() == [0, 2, 3, 4, 8, 9, 11]
    assert places.back[places.flat].tolist() == list(range(7))
    assert places.numbers.tolist() == [1, 2, 3, 1, 1, 2, 3]
    assert places.types.tolist() == [0] * 7


def test_the_bias_masks_padding_and_is_made_once_for_each_type():
    places = RealTokens.of(MASK)
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        bias = places.bias(dtype)
        expected = torch.zeros(MASK.shape, dtype=dtype).masked_fill(~MASK, -torch.inf)[:, None, None]
        assert bias.dtype == dtype
        assert torch.equal(bias, expected)
        assert places.bias(dtype) is bias


def test_a_batch_knows_its_places_and_those_of_its_repetitions():
    batch = make_batch()
    assert batch.real_places is batch.real_places
    for each in (batch, batch.repeated(2)):
        assert torch.equal(each.real_places.flat, each.mask.flatten().nonzero().squeeze(1))
