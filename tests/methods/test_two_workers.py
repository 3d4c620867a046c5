"""A step does not depend on the number of workers."""

import pytest
import torch

from tests.methods.two_workers import SCENARIOS, alone, together


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
