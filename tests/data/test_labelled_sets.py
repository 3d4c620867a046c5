"""The labelled sets on files: counts as published, layouts, and what the reader refuses."""

import gzip

import numpy as np
import pytest

from rse_study.data.catalogue import catalogue, verify
from rse_study.data.labelled import Labelled
from rse_study.data.labelled_sets import TRANSFER_TASKS, files_of, labelled_sets, read_labelled, splits_of
from rse_study.errors import InputError, MissingFile
from tests.cases import cases


def _pairs() -> Labelled:
    return Labelled("toy", "test", [("a", "b"), ("c", ""), ("a", "b")], np.array([0, 1, 1]), ("no", "yes"))


def test_the_fingerprint_knows_text_label_and_class() -> None:
    whole = _pairs()
    assert whole.fingerprint == _pairs().fingerprint
    others = [
        Labelled("toy", "test", [("a", "b"), ("c", "d"), ("a", "b")], whole.labels, whole.classes),
        Labelled("toy", "test", whole.texts, np.array([0, 1, 0]), whole.classes),
        Labelled("toy", "test", whole.texts, whole.labels, ("yes", "no")),
        Labelled("toy", "dev", whole.texts, whole.labels, whole.classes),
    ]
    assert len({one.fingerprint for one in [whole, *others]}) == 5


def test_taking_keeps_texts_and_labels_together_and_singles_and_pairs_do_not_mix() -> None:
    taken = _pairs().take(np.array([2, 1]))
    assert taken.texts == [("a", "b"), ("c", "")]
    assert taken.labels.tolist() == [1, 1]
    with pytest.raises(AssertionError):
        Labelled("toy", "test", [("a",), ("b", "c")], np.array([0, 1]), ("no", "yes"))


COUNTS = {  # class counts, as published or as the data folder's own account of itself has them
    ("MR", "all"): [5331, 5331],
    ("CR", "all"): [1368, 2407],
    ("SUBJ", "all"): [5000, 5000],
    ("MPQA", "all"): [7294, 3312],
    ("SST2", "train"): [29780, 37569],
    ("SST2", "dev"): [428, 444],
    ("SST2", "test"): [912, 909],
    ("TREC", "train"): [86, 1162, 1250, 1223, 835, 896],
    ("TREC", "test"): [9, 138, 94, 65, 81, 113],
    ("MRPC", "train"): [1323, 2753],
    ("MRPC", "test"): [578, 1147],
    ("attack-mr", "test"): [511, 489],
    ("attack-imdb", "test"): [497, 503],
    ("attack-ag", "test"): [256, 265, 237, 242],
    ("attack-mnli_matched", "test"): [373, 311, 316],
    ("attack-mnli_mismatched", "test"): [346, 319, 335],
    ("SNLI-subset", "dev"): [433, 421, 419],
    ("SNLI-subset", "test"): [405, 429, 420],
    ("ANLI-R1", "dev"): [334, 333, 333],
    ("ANLI-R2", "dev"): [334, 333, 333],
    ("ANLI-R3", "dev"): [402, 400, 396],
    ("review-polarity", "all"): [1000, 1000],
    **{(f"uci-{site}", "all"): [500, 500] for site in ("amazon", "imdb", "yelp")},
}
NUM_UNLABELLED = {("SNLI-subset", "dev"): 16, ("SNLI-subset", "test"): 23}
NUM_BLANK = {"CR": 4, "MPQA": 3}
NO_FILES_HERE = {"SUBJ"}


@cases(("name", "split"), COUNTS)
def test_published_counts(data_dir, name, split):
    try:
        found = read_labelled(name, split, data_dir)
    except MissingFile:
        assert name in NO_FILES_HERE
        return
    assert (found.name, found.split) == (name, split)
    assert np.bincount(found.labels).tolist() == COUNTS[name, split]
    assert len(found.classes) == len(COUNTS[name, split])
    assert found.num_unlabelled == NUM_UNLABELLED.get((name, split), 0)
    assert all(part == part.strip() for text in found.texts for part in text)
    assert sum("" in text for text in found.texts) == NUM_BLANK.get(name, 0)


def test_the_catalogue_knows_every_file_of_the_table_and_those_here_are_as_measured(data_dir):
    sets = {
        *TRANSFER_TASKS,
        *(name for name in catalogue() if name.startswith("attack-")),
        *("snli", "snli-subset", "mnli", "anli", "fever", "imdb", "yelp", "review-polarity", "uci-labelled"),
    }
    listed = {file.path for name in sets for file in catalogue().get(name).files}
    assert listed == {
        file for name in labelled_sets() for split in splits_of(name) for file in files_of(name, split)
    }
    assert {row.status for row in verify(sorted(sets), data_dir)} == {"ok", "missing"}


def test_first_lines_have_their_labels(data_dir):
    first = {}
    for name in ("SST2", "TREC", "MRPC"):
        found = read_labelled(name, "train", data_dir)
        first[name] = (found.texts[0][0].partition(" ")[0], found.classes[found.labels[0]])
    assert first == {
        "SST2": ("hide", "negative"),
        "TREC": ("How", "DESC"),
        "MRPC": ("Amrozi", "paraphrase"),
    }


SNLI, IMDB = "nli/snli/snli_1.0_dev.jsonl", "sentiment/imdb/test.jsonl"
FEVER, AMAZON = "nli/fever/dev_fitems.jsonl", "sentiment/uci_labelled/amazon_cells_labelled.txt"
MRPC, TREC = "transfer/MRPC/msr_paraphrase_test.txt", "transfer/TREC/TREC_10.label"
HEADER = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
LAYOUTS = [  # name, split, what its files hold, texts, labels
    (
        "SUBJ", "all",
        {
            "transfer/SUBJ/subj.objective": "it rains\nnext\x85line\u2028here\n",
            "transfer/SUBJ/subj.subjective": "lovely rain\r\n",
        },
        [("it rains",), ("next\x85line\u2028here",), ("lovely rain",)], [0, 0, 1],
    ),
    (
        "MPQA", "all", {"transfer/MPQA/mpqa.neg": "\n bad \n", "transfer/MPQA/mpqa.pos": "good\n\n"},
        [("",), ("bad",), ("good",), ("",)], [0, 0, 1, 1],
    ),
    ("SST2", "test", {"transfer/SST2/sentiment-test": "tab\tinside\t0\n"}, [("tab\tinside",)], [0]),
    ("TREC", "test", {TREC: "ABBR:exp What is `` NASA '' ?\n"}, [("What is `` NASA '' ?",)], [0]),
    ("MRPC", "test", {MRPC: f'\ufeff{HEADER}1\t1\t2\ta "b\tc\n'}, [('a "b', "c")], [1]),
    ("attack-yelp", "test", {"attack/yelp/yelp.txt": '1 good " food\n0 bad\n'}, [('good " food',), ("bad",)], [1, 0]),
    (
        "attack-snli", "test", {"attack/snli/snli.txt": "contradiction\ta dog\ta cat\nneutral\ta\tb\n"},
        [("a dog", "a cat"), ("a", "b")], [2, 1],
    ),
    (
        "SNLI", "dev",
        {
            SNLI: '{"gold_label": "entailment", "sentence1": "p", "sentence2": "h "}\n'
            '{"gold_label": "-", "sentence1": "q", "sentence2": "h"}\n\n'
        },
        [("p", "h")], [0],
    ),
    (
        "ANLI-R2", "test", {"nli/anli/R2/test.jsonl": '{"context": "c", "hypothesis": "h", "label": "n"}'},
        [("c", "h")], [1],
    ),
    (
        "FEVER", "dev",
        {
            FEVER: '{"label": "REFUTES", "query": "c", "context": "", "cid": "1"}\n'
            '{"label": "SUPPORTS", "query": "d", "context": "e"}'
        },
        [("", "c"), ("e", "d")], [2, 0],
    ),
    ("IMDB", "test", {IMDB: '{"label": 1, "text": " good<br />\\nfilm"}\n'}, [("good<br />\nfilm",)], [1]),
    ("uci-amazon", "all", {AMAZON: "fine\t1\n"}, [("fine",)], [1]),
]  # fmt: skip


def _write(root, below, text):
    path = root / (below + ".gz")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text if isinstance(text, bytes) else text.encode()))


@cases(("name", "split", "files", "texts", "labels"), LAYOUTS)
def test_every_layout_is_read_line_by_line(tmp_path, name, split, files, texts, labels):
    for below, text in files.items():
        _write(tmp_path, below, text)
    found = read_labelled(name, split, tmp_path)
    assert (found.texts, found.labels.tolist()) == (texts, labels)
    assert found.num_unlabelled == (name == "SNLI")


REFUSED = [
    ("attack/mr/mr.txt", "0 fine\n2 odd\n", r"mr.txt.gz:2: label '2': a label is one of 0, 1\. Correct"),
    ("attack/mr/mr.txt", "0 fine\n1:x odd\n", r":2: label '1:x': a label is one of 0, 1"),
    ("attack/mr/mr.txt", "0 fine\n1\n", r":2: no text: a line is label, blank, text"),
    ("attack/mr/mr.txt", "0 fine\n1  \n", r"mr.txt.gz:2: '  ?': a sentence must be text"),
    ("attack/snli/snli.txt", "neutral\ta\tb\nneutral\t\tb\n", r":2: '': a sentence must be text"),
    ("attack/snli/snli.txt", "neutral\ta\n", r":1: 2 column\(s\): label, premise, hypothesis"),
    ("attack/snli/snli.txt", "maybe\ta\tb\n", r"'maybe': a label is one of entailment, neutral, contra"),
    (SNLI, '{"gold_label": "neutral", "sentence1": "a", "sentence2": " "}', r":1: ' ': a sentence must be text"),
    (SNLI, '{"gold_label": "neutral", "sentence1": 3, "sentence2": "b"}\n', r":1: 3: a sentence must be text"),
    (SNLI, '{"gold_label": "-", "sentence1": "a", "sentence2": "b"}\n', r"holds no labelled example \(1 without"),
    (SNLI, '{"gold_label": null, "sentence1": "a", "sentence2": "b"}\n', r"label None: a label is one of"),
    (SNLI, "{\n", r":1: is no JSON"),
    (SNLI, "[1]\n", r":1: holds \[1\]: one JSON object a line"),
    (SNLI, '\n{"gold_label": "neutral"}\n', r":2: no 'sentence1': an object has gold_label, sentence1"),
    (FEVER, '{"label": "MAYBE", "context": "e", "query": "c"}', r":1: label 'MAYBE': a label is one of SUPPORTS, NOT"),
    (FEVER, '{"label": "REFUTES", "context": "e"}', r":1: no 'query': an object has label, context, query"),
    (IMDB, '{"label": -1, "text": "unsupervised"}', r":1: label -1: a label is one of 0, 1"),
    (AMAZON, "no label\n", r":1: no tab: a line is sentence, tab, label"),
    (AMAZON, "fine\t1\nodd\tyes\n", r":2: label 'yes': a label is one of 0, 1"),
    (AMAZON, "fine\t1\n\t0\n", r":2: '': a sentence must be text"),
    (AMAZON, "", r"amazon_cells_labelled.txt.gz: holds no labelled example"),
    (TREC, "NUM:count\n", r":1: no text"),
    (TREC, "NMU:count How\n", r"label 'NMU': a label is one of ABBR, DESC"),
    (MRPC, "h\t\t\t\t\n1\ta\tb\n", r":2: 3 column\(s\): 0 or 1, id, id, sentence, sentence"),
    (MRPC, "h\t\t\t\t\nx\t1\t2\ta\tb\n", r":2: label 'x'"),
    ("transfer/SUBJ/subj.objective", "a\n\n", r"objective.gz:2: '': a sentence must be text, not empty"),
    ("transfer/SUBJ/subj.objective", b"\xff\n", r"objective.gz:1: byte 1 is not UTF-8"),
]  # fmt: skip


@cases(("below", "text", "said"), REFUSED)
def test_malformed_lines_are_refused_by_number(tmp_path, below, text, said):
    _write(tmp_path, below, text)
    _write(tmp_path, "transfer/SUBJ/subj.subjective", "b\n")
    (place,) = [
        (name, split)
        for name in labelled_sets()
        for split in splits_of(name)
        if below in files_of(name, split)
    ]
    with pytest.raises(InputError, match=said):
        read_labelled(*place, tmp_path)


@cases(
    ("name", "split", "said"),
    [
        ("attack-ag", "test", r"the layout is attack/ag/ag.txt \(plain or .gz\).*RSE_STUDY_DATA"),
        ("SUBJ", "all", r"objective: no such file: the layout is transfer/SUBJ/subj.objective"),
        ("SST", "dev", "no such labelled set 'SST'. Did you mean 'SST2'"),
        ("MNLI", "dev_match", r"no such split of MNLI 'dev_match'. Did you mean 'dev_matched'"),
        ("MR", "test", "no such split of MR 'test'. Known: all"),
    ],
)
def test_what_is_not_there_is_named(tmp_path, name, split, said):
    with pytest.raises(InputError, match=said):
        read_labelled(name, split, tmp_path)
