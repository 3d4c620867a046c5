"""`attack` refuses before anything is trained."""

import json
import os

import pytest
import typer

from rse_study.cli.app import app
from rse_study.results.files.attack_file import read_attacks
from rse_study.training.classifier import FineTuning
from tests.cases import cases
from tests.results.attacked import end, outcome


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--recipe", "bae"], ["--recipe bae", "no masked language model", "--masked-lm"]),
        (["--recipe", "pws"], ["no such attack 'pws'", "Did you mean 'pwws'?"]),
        (["--recipe", "pwws", "--on", "mrr"], ["no such attack set 'mrr'", "Did you mean 'mr'?"]),
        (["--recipe", "pwws", "--lr", "0"], ["lr = 0.0", "must be > 0"]),
        (["--recipe", "pwws", "--max-length", "600"], ["max_length = 600", "must be <= 512"]),
    ],
    ids=str,
)
def test_what_cannot_run_is_refused_first(rse, data_dir, arguments, words):
    ended = rse("attack", "minilm", "--data", str(data_dir), "--out", "kept", *arguments)
    assert ended.code == 2, ended.err
    assert all(word in ended.err for word in words), ended.err
    assert "victim" not in ended.out


@pytest.fixture
def attacked(rse, models_folder, toy_data):
    """Attack the similarity of a small encoder with PWWS."""

    def call(model, *arguments):
        asked = ("--on", "AdvSTS-B", "--recipe", "pwws", "--data", str(toy_data))
        return rse("attack", str(models_folder / model), *asked, *arguments)

    return call


def test_similarity_goes_on_with_more_pairs_and_refuses_another_encoder(attacked, tmp_path):
    """A sample of two pairs grows to four; another model, pooling or goal is another attack."""
    path, kept = tmp_path / "kept" / "AdvSTS-B-pwws.jsonl", ("--out", "kept", "--max-queries", "30", "--json")
    (first,) = json.loads(attacked("encoder", "--pooling", "mean", "--inputs", "2", *kept).out)
    before = path.read_text().splitlines()
    (second,) = json.loads(attacked("encoder", "--pooling", "mean", "--inputs", "4", *kept).out)
    assert (first["num_now"], second["num_now"], second["num_inputs"]) == (2, 2, 4)
    assert path.read_text().splitlines()[:3] == before
    content = path.read_bytes()
    for model, pooling, more, key in (
        ("other", "mean", [], "encoder"),
        ("encoder", "cls", [], "pooling"),
        ("encoder", "mean", ["--goal", "drift"], "goal"),
    ):
        ended = attacked(model, "--pooling", pooling, "--inputs", "4", *kept, *more)
        assert ended.code == 2
        assert f"another attack ({key} differ). Choose another --out" in ended.err
        assert path.read_bytes() == content


def test_the_table_tells_the_goal_and_says_nothing_of_success_where_none_is_reached(attacked):
    asked = ("encoder", "--pooling", "mean", "--max-queries", "10")
    drift = attacked(*asked, "--out", "drift", "--goal", "drift", "--tau", "0.5", "--inputs", "3")
    assert (drift.code, "drift, tau 0.5" in drift.out, "success" in drift.out) == (0, True, True)
    furthest = attacked(*asked, "--out", "furthest", "--goal", "maximise", "--inputs", "1")
    assert (furthest.code, "maximise" in furthest.out) == (0, True)
    assert "success" not in furthest.out
    assert "accuracy" not in furthest.out
    weak = "AdvSTS-B/pwws: weak: the scores of clean pairs rank nothing"  # one pair has no order
    assert weak in furthest.out + furthest.err
    assert weak not in drift.out


# `attack` refuses what was given and would have no effect, before anything is loaded; defaults are no matter.


UNUSED = {
    "--goal drift": "--on mr: --goal would have no effect: classifiers are attacked, not similarity. Leave it",
    "--on imdb --on mr --tau 1 --sides both": "--on imdb, mr: --tau, --sides would",
    "--on AdvSTS-B --epochs 3 --lr 5e-5": "--on AdvSTS-B: --epochs, --lr would have no effect: similarity",
    "--on AdvSTS-B --max-length 128": "--max-length would have no effect",
    "--on AdvSICK-R --goal maximise --tau 1": "maximise: --tau would have no effect: there is no distance",
    "--recipe pwws --masked-lm minilm-mlm": "pwws: --masked-lm would have no effect: no masked language",
}
USED = (
    "--on AdvSTS-B --goal drift --tau 1 --sides both",
    "--on AdvSTS-B --on mr --goal maximise --sides both --epochs 3 --lr 5e-5 --max-length 128",
    "--recipe pwws --recipe bae --masked-lm minilm-mlm",
    "--on mrr --goal drift --epochs 3",
    "--recipe pws --masked-lm minilm-mlm",
)


@cases(("arguments", "words"), UNUSED.items())
def test_what_these_attacks_do_not_use_is_refused(rse, arguments, words):
    ended = rse("attack", "nowhere/model", *arguments.split())
    assert ended.code == 2
    assert words in ended.err


@cases("arguments", USED)
def test_what_one_of_them_uses_is_not_and_unknown_names_are_told_first(rse, arguments):
    ended = rse("attack", "nowhere/model", *arguments.split())
    assert ended.code == 2  # of data that are not there, or a name
    assert "would have no effect" not in ended.err


@cases("command", ["attack", "fine-tune"])
def test_a_fine_tuning_is_by_default_what_a_study_does(command):
    """One name, one setting: figures of the command and of a study are then of the same classifiers."""
    params = typer.main.get_command(app).commands[command].params
    defaults, own = {param.name: param.default for param in params}, FineTuning().model_dump()
    assert defaults.items() >= {name: own[name] for name in ("epochs", "lr", "max_length")}.items()


# `attack` ends with a page; `report FOLDER` writes it again.


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
