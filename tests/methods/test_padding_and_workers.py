"""A row's perturbation depends on neither padding nor order nor the number of workers."""

from typing import NamedTuple

import pytest
import torch

from tests.methods.problem import ROWS, SENTENCES, make_batch, make_networks, make_run, settings, take_step
from tests.methods.two_workers import SCENARIOS, alone, together
from tests.methods.watching import mean_of, watch_ascents

SETTINGS = {
    "default": {},
    "phi": {"masks": {"phi": 0.3}},
    "l2": {"norm": "l2", "radius": 0.012},
    "l1": {"norm": "l1", "radius": 0.012},
    "l1 per token, eta after": {
        "norm": "l1", "radius": 0.012, "scope": "token", "token_level": {"scaling": "after"},
    },
    "eta per sentence": {"eta_scope": "sentence", "norm": "l2", "eta_radius": 0.03},
    "write-back last": {"token_level": {"write_back": "last"}},
    "special tokens too": {"perturbed_tokens": "all"},
    "batch norm": {"head": "batch_norm", "temperature": 0.5},
}  # fmt: skip


class Taken(NamedTuple):
    """One step and the ascent inside."""

    loss: torch.Tensor
    gradients: dict
    table: torch.Tensor
    delta: torch.Tensor
    eta: torch.Tensor
    masks: list
    metrics: dict


def taken(method, batch, monkeypatch, pooling="cls"):
    seen, run = watch_ascents(monkeypatch), make_run(is_reported=True)
    outcome, state, gradients = take_step(method, make_networks(method, run, pooling=pooling), batch, run)
    monkeypatch.undo()
    blended, tokens, *rest = seen[0].states
    masks = [part for p in rest for part in (p.tokens.movedim(0, -1), p.features.movedim(0, 1))]
    delta = torch.cat([blended.pgd.delta, blended.fgsm.delta], dim=2)
    metrics = {name: mean_of(mean) for name, mean in outcome.metrics.items()}
    return Taken(outcome.loss, gradients, state["V"], delta, tokens.eta, masks, metrics)


def near(a, b, what=""):
    assert float((a.detach() - b.detach()).abs().max()) <= 1e-9, what


def hold_all(one, two):
    near(one.loss, two.loss, "loss")
    near(one.table, two.table, "V")
    for name, gradient in one.gradients.items():
        near(gradient, two.gradients[name], name)
    assert one.metrics == pytest.approx(two.metrics, abs=1e-9)


@pytest.mark.parametrize("switches", SETTINGS.values(), ids=SETTINGS)
def test_neither_padding_nor_the_order_of_rows_changes_anything(switches, monkeypatch):
    method, order = settings(**switches), [2, 0, 3, 1]
    given, long = (taken(method, make_batch(extra_padding=n), monkeypatch) for n in (0, 5))
    hold_padding(given, long)
    sentences, rows = [SENTENCES[i] for i in order], [ROWS[i] for i in order]
    shuffled = taken(method, make_batch(sentences, rows), monkeypatch)
    hold_all(given, shuffled)
    near(given.delta[order], shuffled.delta, "delta")
    near(given.eta[order], shuffled.eta, "eta")
    for a, b in zip(given.masks, shuffled.masks, strict=True):
        near(a[order], b, "masks")


def hold_padding(short, long):
    hold_all(short, long)
    length = short.delta.shape[1]
    near(short.delta, long.delta[:, :length], "delta")
    near(short.eta, long.eta[:, :length], "eta")
    assert not long.delta[:, length:].any()
    assert not long.eta[:, length:].any()
    real = make_batch().mask[:, :, None]
    for i, (a, b) in enumerate(zip(short.masks, long.masks, strict=True)):
        near(*((a * real, b[:, :length] * real) if i % 2 == 0 else (a, b)), "masks")


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
