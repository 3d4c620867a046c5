"""Chunks of sentences: every method's loss, state and gradients are those of whole batches, dropout or not."""

import pytest
import torch

from rse_study.models import encoder
from tests.conformance.entries import ENTRIES, GOLDEN
from tests.methods.problem import make_batch, make_networks, make_run, take_step
from tests.methods.two_workers import SCENARIOS, alone, together
from tests.methods.watching import mean_of
from tests.slow import mostly_slow

METHODS = {**{name: entry.method for name, entry in ENTRIES.items()}, **GOLDEN}


def taken(method, chunk_size, *, pooling="cls", skips_padding=True, **sizes):
    """Loss, state and gradients of one step, encoder, D, target and G in chunks of so many sentences."""
    run = make_run()
    networks = make_networks(method, run, pooling=pooling, **sizes)
    for module in (*networks.modules(), run.generator):
        if hasattr(module, "chunk_size"):
            module.chunk_size = chunk_size
        if hasattr(module, "skips_padding"):
            module.skips_padding = skips_padding
    outcome, state, gradients = take_step(method, networks, make_batch(), run)
    return {"loss": outcome.loss.detach(), **state, **gradients}


def hold_all(one, two, tolerance=1e-10):
    assert one.keys() == two.keys()
    torch.testing.assert_close(two, one, rtol=0, atol=tolerance)


EACH = pytest.mark.parametrize("name", mostly_slow(METHODS, fast=list(ENTRIES)))


@EACH
def test_a_step_in_chunks_is_the_step_of_the_whole_batch(name):
    hold_all(taken(METHODS[name], 0), taken(METHODS[name], 3))


@pytest.mark.parametrize("skips_padding", [True, False], ids=["packed", "padded"])
@pytest.mark.parametrize("pooling", ["mean", "first_last", "prompt", "convolved"])
def test_chunks_fit_any_pooling_and_layout(pooling, skips_padding, monkeypatch):
    ones = lambda ids, mask_id: torch.ones(len(ids)).long()  # noqa: E731
    monkeypatch.setattr("rse_study.models.encoder.prompt_positions", ones)
    method, how = METHODS["RobustSentEmbed"], {"pooling": pooling, "skips_padding": skips_padding}
    hold_all(taken(method, 0, **how), taken(method, 1, **how))


@EACH
def test_dropout_has_the_same_masks_both_times(name, monkeypatch):
    """Against chunks whose activations are kept, and which therefore are computed once."""
    twice = taken(METHODS[name], 3, dropout=0.3)
    monkeypatch.setattr(encoder, "_computed_twice", lambda module, work, *rows: work(*rows))
    once = taken(METHODS[name], 3, dropout=0.3)
    hold_all(once, twice, 0)


def test_chunks_of_another_size_draw_other_masks():
    """Hence the size is part of a trial's identity."""
    losses = {float(taken(METHODS["SimCSE"], size, dropout=0.3)["loss"]) for size in (0, 2, 3)}
    assert len(losses) == 3


def test_gradients_can_be_asked_for_twice():
    method = METHODS["V-advCSE"].model_copy(update={"ratio_every": 1})
    whole, in_chunks = {}, {}
    for found, size in ((whole, 0), (in_chunks, 2)):
        run = make_run()
        networks = make_networks(method, run)
        networks.encoder.chunk_size = size
        outcome, _, _ = take_step(method, networks, make_batch(), run)
        found |= {name: mean_of(mean) for name, mean in outcome.metrics.items()}
    assert "virtual/gradient_ratio" in whole
    assert in_chunks == pytest.approx(whole, rel=1e-9)


# A step does not depend on the number of workers.


def near(a, b, what=""):
    assert float((a.detach() - b.detach()).abs().max()) <= 1e-9, what


@pytest.fixture(scope="module")
def on_one():
    return alone()


@pytest.fixture(scope="module")
def on_two(tmp_path_factory):
    return together(tmp_path_factory.mktemp("workers"))


@pytest.mark.slow  # tests/training/test_workers.py holds it of a whole cell
@pytest.mark.xdist_group("two_workers")
@pytest.mark.parametrize("name", SCENARIOS)
def test_two_workers_equal_one(name, on_one, on_two):
    one, two = on_one[name], [worker[name] for worker in on_two]
    near(sum(worker["loss"] for worker in two), one["loss"], "loss: shares add up")
    for worker in two:
        for part in ("gradients", "state", "buffers"):
            assert worker[part].keys() == one[part].keys()
            for key, value in one[part].items():
                near(worker[part][key], value, key)
    for key, (total, count) in one["metrics"].items():
        reduced = [sum(worker["metrics"][key][i] for worker in two) for i in (0, 1)]
        assert reduced[0] / reduced[1] == pytest.approx(total / count, abs=1e-9), key


@pytest.mark.xdist_group("two_workers")
def test_two_workers_hold_the_same_bits(on_two):
    first, second = on_two
    for name in SCENARIOS:
        for part in ("gradients", "state", "buffers"):
            for key, value in first[name][part].items():
                assert torch.equal(value, second[name][part][key]), (name, key)
