"""The benchmark of a GPU runs without one, on small sizes."""

import json
import warnings

import pytest

from benchmarks import gpu

SMALL = ["--device", "cpu", "--size", "2x128", "--cell-size", "2x128", "--batch", "4", "--length", "16"]
SMALL += ["--num-steps", "1", "--matrix", "64", "--repeat", "2", "--seconds", "0.1"]


def test_a_wait_is_counted_each_time_and_no_other_warning():
    # As torch words them: c10/cuda/CUDAFunctions.cpp, torch/csrc/cuda/Module.cpp.
    of_the_mode = "Synchronization debug mode is a prototype feature and does not yet detect all"
    with gpu.Device("cpu").counted_waits() as noted:
        for _ in range(2):
            warnings.warn(
                "called a synchronizing CUDA operation (Triggered internally at x.cpp:1.)", stacklevel=1
            )
            warnings.warn(f"{of_the_mode} (Triggered internally at x.cpp:1.)", stacklevel=1)
            warnings.warn("an argument is deprecated", FutureWarning, stacklevel=1)
    assert len(noted) == 2
    assert all(str(one.message).startswith("called a synchronizing") for one in noted)


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
