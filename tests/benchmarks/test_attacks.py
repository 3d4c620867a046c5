"""Attack queries per second, at toy size."""

import json

import pytest

from benchmarks import attacks
from rse_study.data import data_dir
from tests import needs

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
