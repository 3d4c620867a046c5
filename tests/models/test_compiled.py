"""torch.compile changes how a step is computed, and neither its numbers nor its dropout."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow  # a compiler is at work


def test_numbers_and_dropout_stay_and_other_lengths_are_not_compiled_again():
    command = [sys.executable, "-m", "tests.models.compiled_steps"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert found["apart"] < 1e-10
    assert found["breaks"] == 0
    assert 0 < found["graphs"][0] <= 4  # one for each kind of pass
    assert found["graphs"][-1] == found["graphs"][1]
    assert found["of_next_cell"] == 0  # another cell of this process: what was compiled serves it


def test_where_cells_are_too_unlike_all_is_compiled_anew_and_nothing_runs_uncompiled():
    script = """
import torch
from functools import partial
from torch._dynamo.utils import counters
from rse_study.models import compiled
compile_ = torch.compile
torch.compile = lambda run, *, options, **rest: compile_(run, backend="eager", **rest)
compiled.MOST_GRAPHS = 2
double = compiled.compiled(lambda x: x + x)
kinds = [torch.float32, torch.float64, torch.float16, torch.int32]
assert all(double(torch.ones(3, dtype=kind)).sum() == 6 for kind in kinds)
print(counters["stats"]["unique_graphs"])
"""
    command = [sys.executable, "-c", script]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.split() == ["4"]
