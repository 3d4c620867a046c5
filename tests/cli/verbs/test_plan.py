"""`plan`: what is left of a study and what it costs; exit code 4 where that is too much."""

import json
import os
import shlex
from pathlib import Path

import pytest

from rse_study.results.files.ledger import Ledger
from rse_study.study.checking.validation import read_study
from tests.cli.a_study import SEARCH, cell_of, run

GRID = """
extends: {joint}
name: little
search: null
num_trials: null
sampler: null
search_seed: null
early_stopping: null
confirm: null
evaluations: [builtin/test]
grid: {{axes: {{rho: [0, 0.5, 1]}}}}
seeds: [0, 1]
"""
JOINT = Path(__file__).parents[3] / "search_spaces" / "joint.yaml"


@pytest.fixture(autouse=True)
def idle_machine(monkeypatch):
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))


@pytest.fixture
def grid(tmp_path):
    path = tmp_path / "little.yaml"
    path.write_text(GRID.format(joint=JOINT))
    return path


@pytest.fixture
def ran(tmp_path, grid):
    """Row 0 of the grid is complete with seed 0, after an hour."""
    row = read_study(grid).rows[0]
    config = row.trial.model_dump(mode="json")
    cell = cell_of(0, stage="grid", config=config, proposal=row.proposal)
    with Ledger.open(tmp_path / "studies" / "little") as ledger:
        ledger.freeze(SEARCH.model_copy(update={"kind": "grid", "axes": (), "num_trials": 0}))
        run(ledger, cell, 50.0, duration_s=3600.0, provenance={"device_type": "cpu"})


def row_of(out, name):
    return next(line for line in out.splitlines() if line.startswith(name)).split()


def test_a_new_study_without_history(rse):
    ended = rse("plan", "joint")
    assert (ended.code, ended.err) == (0, "")
    assert " ".join(row_of(ended.out, "search")[1:12]) == "inline, 1 x 1 thread 16 0 0 0 16 960"
    assert row_of(ended.out, "confirm")[6:11] == ["4", "0", "0", "0", "4"]
    assert "unknown" in row_of(ended.out, "device time")
    assert "scores to compute: builtin/test 4" in ended.out
    assert "use --probe" in ended.out
    told = json.loads(rse("plan", "joint", "--json").out)
    assert (told["device_hours"], told["price"]) == (None, None)


def test_no_limit_at_all_lifts_a_searchs_budget_and_goes_on_to_the_next_command(rse):
    limited = ["plan", "joint", "-o", "search_budget.device_hours=3"]
    assert "it ends at its budget" in rse(*limited).out
    ended = rse(*limited, "--max-hours", "0")
    assert "it ends at its budget" not in ended.out
    assert ended.next.endswith("--max-hours 0 --probe")


def test_where_values_are_tuned_alike_no_limit_is_taken_and_any_other_refused(rse):
    fair = shlex.split("plan joint -o tune_each=norm -o num_trials=18 -o early_stopping=null --max-hours")
    assert rse(*fair, "0").code == 0
    assert "Remove it or --max-hours, which sets it, or tune_each" in rse(*fair, "5").err


def test_the_report_of_a_complete_study_is_in_the_same_store(rse, grid, ran, tmp_path):
    (tmp_path / "studies").rename(tmp_path / "elsewhere")
    row = ["-o", "grid={rows: {a: {rho: 0}}}", "-o", "seeds=[0]", "-o", "evaluations=[]"]
    ended = rse("plan", str(grid), *row, "--store", "elsewhere")
    assert ended.next == "rse-study report little --store elsewhere", ended


def test_what_is_new_is_listed(rse, grid, ran):
    ended = rse("plan", str(grid))
    assert ended.code == 0
    assert row_of(ended.out, "grid")[6:11] == ["6", "1", "0", "0", "5"]
    assert "    rho = 0: seeds 1\n    rho = 0.5: seeds 0, 1\n    rho = 1: seeds 0, 1" in ended.out
    assert "to evaluate only: 1 complete cell, 1 of them retrained" in ended.out
    assert "estimated from: 1 cells of little" in ended.out


def test_a_script_reads_json(rse, grid, ran):
    ended = rse("plan", str(grid), "--json", "-o", "budget.price_per_hour=2")
    assert (ended.code, ended.err) == (0, "")
    told = json.loads(ended.out)
    assert (told["num_cells"], told["num_to_run"]) == (6, 5)
    assert told["stages"][0]["steps"] == 300
    assert told["new"] == {"rho = 0": [1], "rho = 0.5": [0, 1], "rho = 1": [0, 1]}
    assert told["evaluations"]["missing"] == {"builtin/test": 6}
    # Five cells of an hour each, and one trained again; all rows do the same work.
    assert told["device_hours"]["mid"] == pytest.approx(6)
    assert told["price"]["mid"] == pytest.approx(2 * told["device_hours"]["mid"])


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--max-hours", "7"], 0, ""),
        (["--max-hours", "5.9"], 4, "over budget: little: 6 device hours expected"),
        (["--max-hours", "-1"], 2, "--max-hours"),
    ],
)
def test_limits(rse, grid, ran, arguments, code, said):
    ended = rse("plan", str(grid), *arguments)
    assert ended.code == code, ended
    assert said in ended.err
    assert ("device time in all" in ended.out) == (code != 2)


def test_what_is_missing_here_is_said_before_anybody_runs_it(rse, monkeypatch, tmp_path):
    """`run` would refuse the study: the next step is to fetch, not to run."""
    monkeypatch.setenv("RSE_STUDY_DATA", str(tmp_path / "nothing"))
    ended = rse("plan", "rse_table6_mini")
    assert ended.code == 0
    (line,) = [line for line in ended.err.splitlines() if line.startswith("missing here: ")]
    assert "base.selection.dev = 'STS-B'" in line
    assert line.endswith("; `rse-study validate rse_table6_mini` says what to do about each")
    assert ended.next == "rse-study data fetch --for rse_table6_mini"


def test_a_clusters_price_is_the_plans(rse):
    hours = ["-o", "allowance.hours_per_cell=[0.1, 0.2]"]
    content = json.loads(rse("plan", "joint", *hours, "--cluster", "aws-gpu", "--json").out)
    assert content["price_per_hour"] == pytest.approx((8 * 0.45 + 0.1) / 32)
    assert content["price"]["mid"] == pytest.approx(
        content["device_hours"]["mid"] * content["price_per_hour"]
    )
    assert "rse-aws-gpu: launcher, nodes: 0 to 8 'gpu'; 0.1 to 3.7 an hour, head included" in content["notes"]
    assert any(note.startswith("20 cells at a time") for note in content["notes"])


def test_hours_on_a_busy_machine_are_warned_of(rse, grid, ran, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(os, "getloadavg", lambda: (9.0, 6.0, 1.0))
    assert (
        "busy (load 6.0 on 2 cores): until that ends, cells may take up to 4.0 times as long"
        in rse("plan", str(grid)).err
    )
    monkeypatch.setattr(os, "getloadavg", lambda: (9.0, 1.0, 9.0))
    assert "busy" not in rse("plan", str(grid)).err


def test_a_lost_ledger_is_noted(rse, grid, ran, tmp_path):
    (tmp_path / "studies" / "little" / "ledger.sqlite").write_bytes(b"")
    assert "note: its ledger is missing or empty: `run` takes its backup" in rse("plan", str(grid)).out
