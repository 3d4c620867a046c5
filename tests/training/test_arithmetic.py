"""Precisions of training: what they touch, how fp16 goes on, and on what bits depend."""

import json
import math
import platform
from pathlib import Path

import pytest
import torch
from torch import nn

from rse_study.results.bit_equality import UNLIKE, what_decides, what_differs
from rse_study.results.files.result_file import Result, read_result
from rse_study.training.arithmetic import SETTINGS, Arithmetic, provenance
from rse_study.training.loop import drive, train
from rse_study.training.replay import replay
from tests.training.world import Complete, World, leave_at, small_trial

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


FOR_READERS = {"memory_gib", "system"}


def test_everything_a_provenance_says_decides_but_for_what_papers_report(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = provenance(CPU)
    assert what_differs(here, provenance(CPU)) == ()
    assert None not in what_decides(here).values()
    for name in here:
        other = dict.fromkeys(here[name], "other") if isinstance(here[name], dict) else "other"
        assert bool(what_differs(here, here | {name: other})) == (name not in FOR_READERS), name
    assert here["memory_gib"] > 0
    assert here["system"].split(", ")[-1].startswith(platform.system())
    monkeypatch.setenv(SETTINGS[0], "/some folder/lib.so:/another/blas.so")
    assert "lib.so:blas.so" in provenance(CPU)["settings"]
    assert len(what_differs(here, provenance(CPU))) == 1


def test_a_card_that_nobody_can_name_is_no_promise() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is one")
    assert "not on record here: device" in what_differs(provenance(torch.device("cuda")), provenance(CPU))


def test_a_cell_of_one_machine_says_what_it_ran_on(complete: Complete) -> None:
    recorded = read_result(complete.folder).provenance
    assert what_differs(provenance(CPU) | {"threads": recorded["threads"]}, recorded) == ()


def _resumed(world: World, folder: Path, **changes: object) -> Result:
    """A cell whose checkpoint another machine made; without changes, earlier code."""
    leave_at(5, train(small_trial(), 3, world.materials(), folder, checkpoint_seconds=0.0))
    file = next((folder / "checkpoint").glob("step-*/account.json"))
    file.with_name("checksums.json").unlink()  # as before decision 0069
    state = json.loads(file.read_text())
    now, earlier = state.pop("provenance"), {key: said for key, said in state.items() if key != UNLIKE}
    file.write_text(json.dumps(state | {"provenance": now | changes} if changes else earlier))
    list(train(small_trial(), 3, world.materials(), folder))
    return read_result(folder)


def test_a_cell_that_was_resumed_elsewhere_is_promised_nowhere(world: World, tmp_path: Path) -> None:
    recorded = _resumed(world, tmp_path / "cell", kernels="MMX")
    here = torch.backends.cpu.get_cpu_capability()
    assert recorded.provenance[UNLIKE] == [f"other CPU kernels: {here} here, MMX there"]
    found = replay(small_trial(), 3, world.materials(), recorded, tmp_path / "again", threads=1)
    (said,) = found.unlike
    assert said.startswith("more than one kind of machine there")


def test_a_checkpoint_of_earlier_code_does_not_say_where_it_was_made(world: World, tmp_path: Path) -> None:
    recorded = _resumed(world, tmp_path)
    (said,) = recorded.provenance[UNLIKE]
    assert said.startswith("not on record there: CPU kernels")
    assert recorded.status == "complete"
    assert math.isfinite(recorded.final["dev"])
