"""Benchmarks of a GPU, of attacks and of a study, at toy size; that of a GPU runs without one."""

import json
import os
import sys
from multiprocessing.context import SpawnContext
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from benchmarks import attacks, gpu, graphed, study
from benchmarks.packed_cells import _taken
from benchmarks.process_tree import CommandUse, run_measured
from rse_study.data import data_dir
from tests import needs

EARLIER = Path(__file__).parents[1] / "fixtures" / "earlier_study" / "studies"
SMALL = ["--device", "cpu", "--size", "2x128", "--cell-size", "2x128", "--batch", "4", "--length", "16"]
SMALL += ["--num-steps", "1", "--matrix", "64", "--repeat", "2", "--seconds", "0.1"]


def rows_of(*arguments: str, folder: Path) -> list[dict[str, Any]]:
    gpu.main([*SMALL, "--variants", "eager", *arguments, "--out", str(folder / "found.json")])
    return json.loads((folder / "found.json").read_text())["rows"]


@pytest.mark.slow
def test_recorded_steps_are_measured_one_row_at_a_time_by_a_simulated_graph(tmp_path, capsys, monkeypatch):
    """The run that a card will see, so that it fails there for no reason of ours."""
    monkeypatch.setattr(graphed, "WARM_UP", 14)
    rows = rows_of("--graphed", "--cells", "1", folder=tmp_path)
    found = {row["what"]: row for row in rows}
    assert found["tests"]["exit"] == 0
    assert {value for name, value in found["difference"].items() if name != "what"} == {0.0}
    assert found["launches"]["launches"] > found["launches"]["us_a_launch"] > 0
    for name in ("N=1", "N=0", "N=1+rtd"):
        assert found[f"eager {name}"]["recordings"] == 0 < found[f"graphed {name}"]["recordings"]
    assert found["1 x graphed"]["steps_a_second"] > 0
    assert "times as careful plain code" in found["verdict"]["said"]
    assert [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()[-len(rows) :]] == [*found]


def test_what_could_not_end_in_time_is_named(tmp_path):
    rows = rows_of("--graphed", "--minutes", "0", folder=tmp_path)
    assert {row.get("left_out") for row in rows[:-1]} == {"no time"}
    assert rows[-1] == {"what": "verdict", "said": "none: a step was not measured"}


# Cells in processes of their own: one that ends with an error ends the measurement.


def test_a_cell_that_fails_is_not_waited_for():
    context = SpawnContext()
    fails = context.Process(target=os._exit, args=(1,))
    fails.start()
    with pytest.raises(RuntimeError, match="a cell ended with an error"):
        _taken(context.Queue(), [fails])


# Attack queries per second, at toy size.


TOY = [
    *("--recipes", "pwws", "--inputs", "2", "--repeat", "2", "--training", "60", "--epochs", "1"),
    "--busy",
]


def measured(folder):
    out = folder / "attacks.json"
    attacks.main([*TOY, "--out", str(out)])
    return json.loads(out.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_queries_and_seconds_of_each_repeat_are_written(tmp_path):
    needed = ("attack/mr/mr.txt.gz", "transfer/MR", "lexicon/wordnet")
    if not all((data_dir() / name).exists() for name in needed):
        pytest.skip(needs.reason_without_data("attack/mr, MR, WordNet"))
    content = measured(tmp_path)
    (row,) = content["rows"]
    assert len(row["queries"]) == len(row["cpu_seconds"]) == 2
    assert row["inputs"] == 4
    expected = pytest.approx(sum(q / s for q, s in zip(row["queries"], row["cpu_seconds"], strict=True)) / 2)
    assert row["per_second"]["median"] == expected
    assert content["options"]["victim_accuracy"] is not None


def test_without_data_the_row_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("RSE_STUDY_DATA", str(tmp_path / "nothing"))
    (row,) = measured(tmp_path)["rows"]
    assert row["recipe"] == "pwws"
    assert "no such file" in row["skipped"]


# Cells per hour, at toy size; and the processes of a command.


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


def test_the_time_of_a_grid_that_ran_is_accounted_for(tmp_path, monkeypatch):
    """The command is the user's own, as tests/on_ray/nodes/test_launch.py runs it; here its store is there at once."""

    def run(command, environment):
        copytree(EARLIER / "old_grid", Path(command[-1]) / study.NAME)
        return CommandUse(1e9, {"driver": 1.0, "workers": 2.0, "ray": 3.0}, 9, 0, "")

    monkeypatch.setattr(study, "run_measured", run)
    out = tmp_path / "study.json"
    study.main(["--cells", "2", "--steps", "2", "--busy", "--out", str(out)])
    (row,) = json.loads(out.read_text(encoding="utf-8"))["rows"]
    assert row["cells"] == len(row["beside_s"]) == 6
    assert 0 < row["share"] < 1
    assert row["own_s"] < row["worker_s"] < row["wall_s_times_cores"]
    assert row["cpu_s"].keys() == {"driver", "workers", "ray"}
    assert row["wall_s_times_cores"] >= row["wall_s"]
