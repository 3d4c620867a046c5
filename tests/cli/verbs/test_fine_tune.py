"""`fine-tune`: a very small encoder fine-tuned on small files, told, kept, gone on with."""

import json
import re

import pytest

from tests.downstream.toy_tasks import write_anli, write_nli

QUICK = ("--pooling", "mean", "--max-length", "16", "--epochs", "1")


@pytest.fixture
def fine_tune(rse, learner, no_hub, texts):
    def call(suite, *arguments):
        return rse("fine-tune", learner, "--suite", suite, "--data", str(texts), *QUICK, *arguments)

    return call


@pytest.fixture
def texts(tmp_path):
    return tmp_path / "texts"


def test_nli_of_what_is_here(fine_tune, texts, tmp_path):
    write_nli(texts, "snli/snli_1.0_train", 500, seed=0)
    write_nli(texts, "snli/snli_1.0_test", 12, seed=1, unlabelled=3)
    for number in (1, 2, 3):
        write_anli(texts, number, "dev", 9, seed=number)
    ended = fine_tune("nli", "--out", "kept", "--lr", "5e-3", "--epochs", "4")
    assert ended.code == 0, ended.err
    assert "ANLI: step" not in ended.out  # the same classifier: SNLI is all there is to train on
    assert re.search(r"SNLI: 500 texts of SNLI train; accuracy \d+\.\d% on a held-out share", ended.out)
    lines = [line.split() for line in ended.out.splitlines()]
    heading = next(line for line in lines if line[:2] == ["task", "split"])
    assert heading == ["task", "split", "metric", "value", "examples", "skipped", "weak"]
    (snli,) = (line for line in lines if line[:3] == ["SNLI", "test", "accuracy"])
    assert snli[4:6] == ["12", "3"]
    assert {line[2] for line in lines if line[:2] == ["ANLI", "dev"]} == {"R1", "R2", "R3", "all", "mean"}
    assert "nli/anli/R1/test.jsonl: not in the data folder" in ended.out
    assert re.search(r"MNLI: .*no split of MNLI to score: the layout is nli/mnli/", ended.out)
    kept = json.loads((tmp_path / "kept/nli.json").read_text())
    again = fine_tune("nli", "--json", "--lr", "5e-3", "--epochs", "4")
    assert json.loads(again.out) == kept
    assert "step" not in again.err  # trained before
    assert "SNLI train" in again.err
    assert {row["task"] for row in kept["rows"]} == {"SNLI", "ANLI"}
    assert (kept["pooling"], kept["suite"]) == ("mean", "nli")


@pytest.mark.parametrize(
    ("suite", "arguments", "words"),
    [
        ("nli", ["--on", "ANLY"], ["--on", "no such nli task 'ANLY'", "Did you mean 'ANLI'?"]),
        ("glue", ["--on", "SST2"], ["--on", "no such glue task 'SST2'", "Did you mean 'SST-2'?"]),
        ("nli", [], ["no nli task is here", "the layout is nli/snli/", "RSE_STUDY_DATA"]),
        ("glue", [], ["no glue task is here", "nyu-mll/glue/<task>/{train,validation}", "asked of the hub"]),
        ("nli", ["--on", "SNLI"], ["no split of SNLI to score", "nli/snli/snli_1.0_test.jsonl"]),
        ("glue", ["--on", "RTE"], ["dataset nyu-mll/glue: cannot be loaded"]),
        ("nli", ["--lr", "0"], ["lr = 0.0", "must be > 0"]),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_before_anything_trains(fine_tune, suite, arguments, words):
    ended = fine_tune(suite, *arguments)
    assert ended.code == 2, ended.err
    assert all(word in ended.err for word in words), ended.err
    assert "step" not in ended.out
