"""Precisions of training: what they touch, and that a cell in fp16 goes on as it would have."""

import pytest
import torch
from torch import nn

from rse_study.results.files.result_file import read_result
from rse_study.training.arithmetic import Arithmetic
from rse_study.training.loop import drive, train
from tests.training.world import leave_at, small_trial

CPU = torch.device("cpu")
PRODUCTS = torch.backends.cuda.matmul


def test_tf32_is_for_the_products_of_its_own_steps():
    """Workers stay from cell to cell: the next one may want float32."""
    before, network = PRODUCTS.fp32_precision, nn.Linear(1, 1)
    with Arithmetic("tf32", CPU).products(network):
        assert PRODUCTS.fp32_precision == "tf32"
    assert PRODUCTS.fp32_precision == before
    with Arithmetic("float32", CPU).products(network):
        assert PRODUCTS.fp32_precision == before


def test_a_step_whose_gradients_overflow_is_left_out_and_the_next_has_a_smaller_scale():
    network, arithmetic = nn.Linear(1, 1, bias=False), Arithmetic("fp16", CPU)
    optimizer = torch.optim.AdamW(network.parameters(), lr=0.1, fused=True)
    before, scale = network.weight.item(), arithmetic.state()["scaler/scale"].item()
    for factor, moves in ((float("inf"), False), (1.0, True)):
        arithmetic.descend(factor * network.weight.sum(), optimizer, network.parameters(), 1.0)
        assert (network.weight.item() != before) == moves
    assert arithmetic.state()["scaler/scale"].item() == scale / 2
    assert Arithmetic("float32", CPU).state() == {}


def test_a_cell_in_fp16_goes_on_to_the_same_bits_and_is_near_float32(world, tmp_path):
    results = {}
    for name, precision in (("whole", "fp16"), ("broken", "fp16"), ("exact", "float32")):
        trial = small_trial(precision=precision)
        cell = [trial, 3, world.materials(dropout=0.0), tmp_path / name]
        if name == "broken":
            leave_at(4, train(*cell, checkpoint_seconds=0.0))
        drive(train(*cell), lambda progress: None)
        results[name] = read_result(tmp_path / name)
    assert results["broken"].history == results["whole"].history
    for one, other in zip(results["whole"].history, results["exact"].history, strict=True):
        for metric in ("loss", "delta/moved"):
            if metric in other.metrics:
                assert one.metrics[metric] == pytest.approx(other.metrics[metric], rel=0.02), (one.t, metric)
    assert results["whole"].history != results["exact"].history
