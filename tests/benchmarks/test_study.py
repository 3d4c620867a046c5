"""Cells per hour, at toy size; and the processes of a command."""

import json
import os
import sys

import pytest

from benchmarks import study
from benchmarks.process_tree import run_measured

BURN = "import time\nwhile time.process_time() < 1.0: pass\n"


def test_the_seconds_below_a_command_count_and_the_output_of_one_that_fails_is_kept():
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BURN!r}])"
    use = run_measured([sys.executable, "-c", code], os.environ)
    assert use.returncode == 0
    assert use.num_processes == 2
    assert 0.5 < sum(use.cpu_s.values()) < 3
    assert use.cpu_s["driver"] < 0.5
    assert use.wall_s >= 1
    use = run_measured([sys.executable, "-c", "raise SystemExit('no such thing')"], os.environ)
    assert use.returncode == 1
    assert "no such thing" in use.output


@pytest.mark.slow
@pytest.mark.xdist_group("ray")
def test_a_grid_is_run_and_its_time_is_accounted_for(tmp_path):
    out = tmp_path / "study.json"
    study.main(["--cells", "2", "--steps", "2", "--busy", "--out", str(out)])
    (row,) = json.loads(out.read_text(encoding="utf-8"))["rows"]
    assert row["cells"] == 2
    assert 0 < row["share"] < 1
    assert row["own_s"] < row["worker_s"] < row["wall_s_times_cores"]
    assert len(row["beside_s"]) == 2
    assert row["cpu_s"].keys() == {"driver", "workers", "ray"}
    assert row["wall_s_times_cores"] >= row["wall_s"]
