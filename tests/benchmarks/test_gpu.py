"""The benchmark of a GPU runs without one, on small sizes."""

import json

import pytest

from benchmarks import gpu

SMALL = ["--device", "cpu", "--size", "2x128", "--cell-size", "2x128", "--batch", "4", "--length", "16"]
SMALL += ["--num-steps", "1", "--matrix", "64", "--repeat", "2", "--seconds", "0.1"]


@pytest.mark.slow  # two processes of torch beside this one
def test_it_says_what_it_measures(tmp_path, capsys):
    gpu.main([*SMALL, "--variants", "eager", "--cells", "1", "2", "--out", str(tmp_path / "found.json")])
    printed = capsys.readouterr().out
    assert "bf16 products of two 64 x 64 matrices" in printed
    assert "| eager |" in printed
    assert "cells of 500 steps an hour" in printed
    step, *cells = json.loads((tmp_path / "found.json").read_text())["rows"]
    assert step["flops"] > 0
    assert step["step_s"] > 0
    assert [row["cells"] for row in cells] == [1, 2]
    assert all(row["steps_a_second"] > 0 for row in cells)
