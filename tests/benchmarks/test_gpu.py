"""The benchmark of a GPU runs without one, on small sizes."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import gpu, graphed

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
