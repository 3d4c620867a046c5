"""`attack` ends with a page; `report FOLDER` writes it again."""

import json
import os

import pytest

from rse_study.results.files.attack_file import read_attacks
from tests.results.attacked import end, outcome


@pytest.fixture
def folder(tmp_path):
    end(tmp_path / "attacked", "mr", "pwws", [outcome(0, "a good film", {1: "bad"})])
    return tmp_path / "attacked"


def test_report_writes_the_page_again(rse, folder):
    ended = rse("report", "attacked")
    assert (ended.code, ended.out.strip()) == (0, os.path.join("attacked", "attacks.html"))
    page = (folder / "attacks.html").read_bytes()
    ended = rse("report", str(folder), "--out", "deep/page.html")
    assert ended.code == 0
    assert (folder.parent / "deep/page.html").read_bytes() == page


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--tables", "tables"], ["--tables tables", "attacks have none", "*.jsonl"]),
        (["--out", "attacked"], ["--out attacked", "is a folder"]),
    ],
    ids=str,
)
def test_what_a_report_of_attacks_cannot_do_is_refused(rse, folder, arguments, words):
    ended = rse("report", "attacked", *arguments)
    assert ended.code == 2
    assert all(word in ended.err for word in words), ended.err
    assert not (folder / "attacks.html").exists()


def test_attacks_end_with_their_page(rse, models_folder, toy_data, tmp_path):
    """A victim of two layers: what it is worth does not matter here."""
    asked = ("--recipe", "pwws", "--inputs", "4", "--max-queries", "30", "--epochs", "1", "--max-length", "8")
    ended = rse(
        "attack", str(models_folder / "encoder"), "--pooling", "mean", "--threads", "1",
        "--data", str(toy_data), "--out", "kept", "--json", *asked,
    )  # fmt: skip
    assert ended.code == 0, ended.err
    (row,) = json.loads(ended.out)
    page = tmp_path / "kept" / "attacks.html"
    assert f"report: {page}" in ended.err
    assert page.is_file()
    found = read_attacks(tmp_path / "kept")
    assert found.summary["num_inputs"].tolist() == [row["num_inputs"]] == [4]
    assert found.outcomes["index"].tolist() == [0, 1, 2, 3]
