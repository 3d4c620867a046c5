"""`attack` refuses before anything is trained."""

import json

import pytest


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
