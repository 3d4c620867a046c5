"""Readers of attacked inputs, NLI and sentiment: counts as published, and what they refuse."""

import gzip
import json

import numpy as np
import pytest

from rse_study.data.attack_sets import ATTACK_SETS, OF_GLUE, OF_TRANSFER, read_attack_set
from rse_study.data.catalogue import catalogue, verify
from rse_study.data.nli_sets import nli_files, nli_tasks, read_nli
from rse_study.data.sentiment_sets import REVIEWS, SENTIMENT_SETS, read_reviews, read_sentiment, reviews_file
from rse_study.data.tasks import NLI_CLASSES
from rse_study.data.transfer_sets import read_transfer
from rse_study.data.victim_texts import training_for
from rse_study.errors import InputError, MissingFile
from tests.cases import cases
from tests.downstream.toy_tasks import write_glue

COUNTS = {  # class counts, as the data folder's own account of itself has them
    "mr": [511, 489],
    "imdb": [497, 503],
    "ag": [256, 265, 237, 242],
    "mnli_matched": [373, 311, 316],
    "mnli_mismatched": [346, 319, 335],
}
NLI_COUNTS = {
    ("SNLI-subset", "dev"): ([433, 421, 419], 16),
    ("SNLI-subset", "test"): ([405, 429, 420], 23),
    ("ANLI-R1", "dev"): ([334, 333, 333], 0),
    ("ANLI-R2", "dev"): ([334, 333, 333], 0),
    ("ANLI-R3", "dev"): ([402, 400, 396], 0),
}


@cases("name", COUNTS)
def test_attacked_inputs_as_published(data_dir, name):
    found = read_attack_set(name, data_dir)
    assert np.bincount(found.labels).tolist() == COUNTS[name]
    assert all(part and part == part.strip() for text in found.texts for part in text)
    assert len(found.classes) == len(COUNTS[name])


@pytest.mark.parametrize("name", OF_TRANSFER)
def test_inputs_nobody_published_are_the_first_of_a_test_split(data_dir, name):
    found, split = read_attack_set(name, data_dir), read_transfer(OF_TRANSFER[name], "test", data_dir)
    assert (found.name, len(found)) == (f"attack-{name}", 1000)
    assert found.texts == split.texts[:1000]
    assert found.labels.tolist() == split.labels[:1000].tolist()


@pytest.mark.usefixtures("no_hub")
def test_cola_is_attacked_on_glues_validation_split_and_its_victims_see_train(tmp_path):
    rows = {"train": ("red", 0), "validation": ("blue", 1)}
    for split, (sentence, label) in rows.items():
        write_glue(tmp_path, "cola", split, [{"sentence": sentence, "label": label}])
    for glue in ("nyu-mll/glue", str(tmp_path / "nyu-mll/glue")):
        found = read_attack_set("cola", tmp_path, glue)
        assert (found.name, found.split, found.texts) == ("attack-cola", "test", [("blue",)])
        assert training_for("cola", tmp_path, glue).texts == [("red",)]


@cases(("task", "split"), NLI_COUNTS)
def test_nli_as_published(data_dir, task, split):
    found = read_nli(task, split, data_dir)
    counts, num_unlabelled = NLI_COUNTS[task, split]
    assert np.bincount(found.labels).tolist() == counts
    assert found.num_unlabelled == num_unlabelled
    assert found.classes == NLI_CLASSES


@cases("name", list(SENTIMENT_SETS))
def test_sentiment_as_published(data_dir, name):
    found = read_sentiment(name, data_dir)
    assert np.bincount(found.labels).tolist() == ([1000] * 2 if name == "review-polarity" else [500] * 2)


def test_the_catalogue_knows_every_file_and_those_here_are_as_measured(data_dir):
    own = [name for name in ATTACK_SETS if name not in (*OF_TRANSFER, *OF_GLUE)]
    names = [
        *(f"attack-{name}" for name in own),
        "snli",
        "snli-subset",
        "mnli",
        "anli",
        "fever",
        "imdb",
        "yelp",
    ]
    names += ["review-polarity", "uci-labelled"]
    listed = {file.path for name in names for file in catalogue().get(name).files}
    read = {f"attack/{name}/{name}.txt" for name in own}
    read |= {nli_files(task).get(split) for task in nli_tasks() for split in nli_files(task)}
    read |= {reviews_file(name, split) for name in REVIEWS for split in ("train", "test")}
    assert listed == read | {SENTIMENT_SETS.get(name) for name in SENTIMENT_SETS}
    assert {row.status for row in verify(names, data_dir)} == {"ok", "missing"}


@pytest.fixture
def folder(tmp_path):
    """Two lines a set, in every layout there is, also of those absent from the real folder."""
    _write(tmp_path, "attack/yelp/yelp.txt", '1 good " food\n0 bad\n')
    _write(tmp_path, "attack/snli/snli.txt", "contradiction\ta dog\ta cat\nneutral\ta\tb\n")
    rows = [("entailment", "p", "h"), ("-", "q", "h"), ("contradiction", "r", "h ")]
    lines = [dict(zip(("gold_label", "sentence1", "sentence2"), row, strict=True)) for row in rows]
    text = "\n".join(json.dumps(line) for line in lines) + "\n\n"
    _write(tmp_path, "nli/snli/snli_1.0_train.jsonl", text)
    _write(tmp_path, "nli/mnli/multinli_1.0_dev_mismatched.jsonl", text)
    _write(tmp_path, "nli/anli/R2/test.jsonl", json.dumps({"context": "c", "hypothesis": "h", "label": "n"}))
    claims = [("SUPPORTS", "c1"), ("REFUTES", "c2 "), ("NOT ENOUGH INFO", "c3")]
    rows = [
        {"cid": "1", "verifiable": "VERIFIABLE", "label": label, "query": claim, "context": "e"}
        for label, claim in claims
    ]
    _write(tmp_path, "nli/fever/dev_fitems.jsonl", "\n".join(map(json.dumps, rows)))
    _write(tmp_path, "sentiment/imdb/test.jsonl", '{"label": 1, "text": " good<br />film"}\n')
    _write(tmp_path, "sentiment/yelp/train.jsonl", '{"label": 0, "text": "bad\\nfood"}\n')
    return tmp_path


def _write(root, below, text):
    path = root / (below + ".gz")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()))


def test_absent_sets_are_read_by_the_same_layout(folder):
    yelp, snli = read_attack_set("yelp", folder), read_attack_set("snli", folder)
    assert (yelp.texts, yelp.labels.tolist()) == ([('good " food',), ("bad",)], [1, 0])
    assert yelp.classes == ("negative", "positive")
    assert (snli.texts, snli.labels.tolist()) == ([("a dog", "a cat"), ("a", "b")], [2, 1])
    for found in (read_nli("SNLI", "train", folder), read_nli("MNLI", "dev_mismatched", folder)):
        assert (found.texts, found.labels.tolist()) == ([("p", "h"), ("r", "h")], [0, 2])
        assert found.num_unlabelled == 1
    anli = read_nli("ANLI-R2", "test", folder)
    assert (anli.name, anli.texts, anli.labels.tolist()) == ("ANLI-R2", [("c", "h")], [1])
    fever = read_nli("FEVER", "dev", folder)
    assert (fever.texts, fever.labels.tolist()) == ([("e", "c1"), ("e", "c2"), ("e", "c3")], [0, 2, 1])
    imdb, yelp = read_reviews("IMDB", "test", folder), read_reviews("YELP", "train", folder)
    assert (imdb.name, imdb.split, imdb.texts, imdb.labels.tolist()) == (
        "IMDB",
        "test",
        [("good<br />film",)],
        [1],
    )
    assert (yelp.texts, yelp.labels.tolist(), yelp.classes) == (
        [("bad\nfood",)],
        [0],
        ("negative", "positive"),
    )


SNLI = "nli/snli/snli_1.0_dev.jsonl"
FEVER, IMDB = "nli/fever/dev_fitems.jsonl", "sentiment/imdb/test.jsonl"
AMAZON = SENTIMENT_SETS.get("uci-amazon")
REFUSED = [
    ("attack/mr/mr.txt", "0 fine\n2 odd\n", r"mr.txt.gz:2: label '2': a label is one of 0, 1\. Fetch"),
    ("attack/mr/mr.txt", "0 fine\n1\n", r":2: no text: a line is label, blank, text"),
    ("attack/mr/mr.txt", "0 fine\n1  \n", r"mr.txt.gz:2: '  ?': a sentence must be text"),
    ("attack/snli/snli.txt", "neutral\ta\tb\nneutral\t\tb\n", r":2: '': a sentence must be text"),
    (SNLI, '{"gold_label": "neutral", "sentence1": "a", "sentence2": " "}', r":1: ' ': a sentence must be text"),
    (IMDB, '{"label": 1, "text": ""}', r":1: '': a sentence must be text"),
    (AMAZON, "fine\t1\n\t0\n", r":2: '': a sentence must be text"),
    ("attack/snli/snli.txt", "neutral\ta\n", r":1: 2 column\(s\): label, premise, hypothesis"),
    ("attack/snli/snli.txt", "maybe\ta\tb\n", r"'maybe': a label is one of entailment, neutral, contra"),
    (SNLI, "{\n", r":1: is no JSON"),
    (FEVER, '{"label": "MAYBE", "context": "e", "query": "c"}', r":1: label 'MAYBE': a label is one of SUPPORTS, NOT"),
    (FEVER, '{"label": "REFUTES", "context": "e"}', r":1: no 'query': an object has label, context, query"),
    (IMDB, '{"label": -1, "text": "unsupervised"}', r":1: label -1: a label is one of 0, 1"),
    (SNLI, "[1]\n", r":1: holds \[1\]: one JSON object a line"),
    (SNLI, '\n{"gold_label": "neutral"}\n', r":2: no 'sentence1': an object has gold_label, sentence1"),
    (SNLI, '{"gold_label": "neutral", "sentence1": 3, "sentence2": "b"}\n', r":1: 3: a sentence must be text"),
    (SNLI, '{"gold_label": "-", "sentence1": "a", "sentence2": "b"}\n', r"holds no labelled example \(1 without"),
    (SNLI, '{"gold_label": null, "sentence1": "a", "sentence2": "b"}\n', r"label None: a label is one of"),
    ("nli/anli/R1/dev.jsonl", '{"context": "a", "hypothesis": "b", "label": "x"}\n', r"'x': .* e, n, c"),
    (AMAZON, "no label\n", r":1: no tab: a line is sentence, tab, label"),
    (AMAZON, "fine\t1\nodd\tyes\n", r":2: label 'yes': a label is one of 0, 1"),
]  # fmt: skip
READERS = {
    "attack/mr/mr.txt": lambda folder: read_attack_set("mr", folder),
    "attack/snli/snli.txt": lambda folder: read_attack_set("snli", folder),
    SNLI: lambda folder: read_nli("SNLI", "dev", folder),
    "nli/anli/R1/dev.jsonl": lambda folder: read_nli("ANLI-R1", "dev", folder),
    FEVER: lambda folder: read_nli("FEVER", "dev", folder),
    IMDB: lambda folder: read_reviews("IMDB", "test", folder),
    AMAZON: lambda folder: read_sentiment("uci-amazon", folder),
}


@cases(("below", "text", "said"), REFUSED)
def test_malformed_lines_are_refused_by_number(tmp_path, below, text, said):
    _write(tmp_path, below, text)
    with pytest.raises(InputError, match=said):
        READERS[below](tmp_path)


def test_missing_sets_and_mistyped_names(tmp_path):
    with pytest.raises(MissingFile, match=r"the layout is attack/ag/ag.txt \(plain or .gz\).*RSE_STUDY_DATA"):
        read_attack_set("ag", tmp_path)
    with pytest.raises(InputError, match=r"no such attack set 'mnli_mached'. Did you mean 'mnli_matched'"):
        read_attack_set("mnli_mached", tmp_path)
    with pytest.raises(InputError, match=r"no such NLI task 'ANLI'"):
        read_nli("ANLI", "dev", tmp_path)
    with pytest.raises(InputError, match=r"no such split of MNLI 'dev_match'. Did you mean 'dev_matched'"):
        read_nli("MNLI", "dev_match", tmp_path)
    with pytest.raises(InputError, match=r"no such sentiment set 'uci-yelpp'. Did you mean 'uci-yelp'"):
        read_sentiment("uci-yelpp", tmp_path)
