"""Turns, spreads, operations, bytes, tables."""

import sys
import time
from argparse import Namespace

import pytest
import torch

from benchmarks import machine
from benchmarks.counting import count_flops, peak_bytes
from benchmarks.timing import Spread, ratios, take_turns

MEGABYTE = 1 << 20


def test_contenders_take_turns_of_cpu_seconds_and_ratios_are_of_one_round():
    order = []
    contenders = {name: lambda number, name=name: order.append((name, number)) for name in "ab"}
    seconds = take_turns(contenders, 2)
    assert order == [("b", 0), ("a", 0), ("a", 1), ("b", 1), ("b", 2), ("a", 2)]
    assert {name: len(values) for name, values in seconds.items()} == {"a": 2, "b": 2}
    seconds = take_turns({"asleep": lambda number: time.sleep(0.2)}, 1)
    assert seconds["asleep"][0] < 0.1
    assert ratios([2.0, 9.0, 4.0], [1.0, 3.0, 4.0]) == Spread(2.0, 1.0, 3.0)


@pytest.mark.parametrize("dropout", [0.0, 0.1])
def test_attention_counts_with_and_without_dropout(dropout):
    vectors = torch.ones(2, 3, 16, 8)  # sentences, heads, tokens, width
    mask = torch.zeros(2, 1, 1, 16)
    attention = torch.nn.functional.scaled_dot_product_attention
    flops = count_flops(lambda: attention(vectors, vectors, vectors, attn_mask=mask, dropout_p=dropout))
    assert flops == 2 * (2 * 3) * (2 * 16 * 16 * 8)  # two products in each head of each sentence


def test_the_peak_holds_what_is_alive_at_a_time_and_standard_error_is_back(capfd):
    def work():
        one = torch.zeros(MEGABYTE, dtype=torch.uint8)
        two = torch.zeros(2 * MEGABYTE, dtype=torch.uint8)
        del one, two
        torch.zeros(MEGABYTE, dtype=torch.uint8)

    assert peak_bytes(work) == pytest.approx(3 * MEGABYTE, rel=0.01)
    peak_bytes(lambda: torch.zeros(3))
    print("heard", file=sys.stderr)
    assert capfd.readouterr().err == "heard\n"


def test_a_time_waits_for_a_quiet_machine_as_long_as_it_is_told(monkeypatch):
    monkeypatch.setattr(machine.os, "getloadavg", lambda: (2.4, 9.0, 9.0))
    assert machine.is_quiet()
    monkeypatch.setattr(machine.os, "getloadavg", lambda: (2.6, 0.0, 0.0))
    assert not machine.is_quiet()
    loads = iter([9.0, 9.0, 1.0])
    monkeypatch.setattr(machine, "load", lambda: next(loads))
    monkeypatch.setattr(machine, "SECONDS_BETWEEN", 0.0)
    assert machine.may_time(Namespace(busy=False, wait=60.0))
    monkeypatch.setattr(machine, "load", lambda: 9.0)
    assert not machine.may_time(Namespace(busy=False, wait=0.0))
    assert machine.may_time(Namespace(busy=True, wait=0.0))
