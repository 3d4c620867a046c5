import gzip

import numpy as np
import pytest

from rse_study.data.catalogue import catalogue, verify
from rse_study.data.transfer_sets import read_transfer, read_transfer_task, transfer_splits, transfer_tasks
from rse_study.errors import InputError, MissingFile
from tests import needs
from tests.cases import cases

# counts of each class, as published
COUNTS = {
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
}
NUM_BLANK = {"CR": 4, "MPQA": 3}
MRPC_TEST = "msr_paraphrase_test.txt"


@pytest.mark.parametrize(
    ("task", "split"), [(task, split) for task in transfer_tasks() for split in transfer_splits(task)]
)
def test_published_counts(data_dir, task, split):
    if not (data_dir / "transfer" / task).is_dir():
        pytest.skip(needs.reason_without_data(task))
    found = read_transfer(task, split, data_dir)
    assert (found.name, found.split) == (task, split)
    assert np.bincount(found.labels).tolist() == COUNTS[task, split]
    assert {len(text) for text in found.texts} == {2 if task == "MRPC" else 1}
    assert sum(text == ("",) for text in found.texts) == NUM_BLANK.get(task, 0)


def test_the_data_here_are_the_data_measured_and_first_lines_have_their_labels(data_dir):
    here = [task for task in transfer_tasks() if (data_dir / "transfer" / task).is_dir()]
    assert {row.status for row in verify(here, data_dir)} == {"ok"}
    sst2 = read_transfer("SST2", "train", data_dir)
    assert sst2.texts[0] == ("hide new secretions from the parental units",)
    assert sst2.classes[sst2.labels[0]] == "negative"
    trec = read_transfer("TREC", "train", data_dir)
    assert trec.texts[0] == ("How did serfdom develop in and then leave Russia ?",)
    assert trec.classes[trec.labels[0]] == "DESC"
    mrpc = read_transfer("MRPC", "train", data_dir)
    assert [text.partition(" ")[0] for text in mrpc.texts[0]] == ["Amrozi", "Referring"]
    assert mrpc.classes[mrpc.labels[0]] == "paraphrase"
    assert '"the witness"' in mrpc.texts[0][0]  # quotation marks are text


def test_the_catalogue_knows_what_the_readers_read(tmp_path):
    files = {file.path for name in transfer_tasks() for file in catalogue().get(name).files}
    for task, split in COUNTS:
        with pytest.raises(MissingFile) as caught:
            read_transfer(task, split, tmp_path)
        assert caught.value.rule.removeprefix("the layout is ").partition(" ")[0] in files


@pytest.fixture
def toy(tmp_path):
    """Tiny files of all layouts, SUBJ among them, with blank lines and characters that are no line ends."""
    contents = {
        "SUBJ/subj.objective": "it rains\nnext\x85line\u2028here\n",
        "SUBJ/subj.subjective": "lovely rain\r\n",
        "MPQA/mpqa.neg": "\n bad \n",
        "MPQA/mpqa.pos": "good\n\n",
        "SST2/sentiment-train": "fine \t1\npoor\t0\n",
        "SST2/sentiment-dev": "fine\t1\n",
        "SST2/sentiment-test": "tab\tinside\t0\n",
        "TREC/train_5500.label": "NUM:count How many ?\n",
        "TREC/TREC_10.label": "ABBR:exp What is `` NASA '' ?\n",
        "MRPC/msr_paraphrase_train.txt": 'Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t1\t2\ta "b\tc\n',
        "MRPC/msr_paraphrase_test.txt": "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n0\t1\t2\td\te\n",
    }
    for path, content in contents.items():
        file = tmp_path / "transfer" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.with_name(file.name + ".gz").write_bytes(gzip.compress(content.encode()))
    return tmp_path


def test_blank_lines_count_and_only_line_feeds_end_a_line(toy):
    subj = read_transfer("SUBJ", "all", toy)
    assert subj.texts == [("it rains",), ("next\x85line\u2028here",), ("lovely rain",)]
    assert [subj.classes[label] for label in subj.labels] == ["objective", "objective", "subjective"]
    mpqa = read_transfer("MPQA", "all", toy)
    assert mpqa.texts == [("",), ("bad",), ("good",), ("",)]
    assert mpqa.labels.tolist() == [0, 0, 1, 1]


def test_a_task_is_its_splits_in_order(toy):
    train, dev, test = read_transfer_task("SST2", toy)
    assert [split.split for split in (train, dev, test)] == ["train", "dev", "test"]
    assert train.texts == [("fine",), ("poor",)]
    assert (test.texts, test.labels.tolist()) == ([("tab\tinside",)], [0])
    train, test = read_transfer_task("TREC", toy)
    assert test.texts == [("What is `` NASA '' ?",)]
    assert (train.labels.tolist(), test.labels.tolist()) == ([5], [0])
    assert [split.texts for split in read_transfer_task("MRPC", toy)] == [[('a "b', "c")], [("d", "e")]]


@pytest.mark.parametrize(
    ("task", "split", "file", "content", "message"),
    [
        ("SST2", "dev", "sentiment-dev", "a\t1\nno tab\n", r"dev:2: no tab: a line is sentence, tab, label"),
        ("SST2", "dev", "sentiment-dev", "a\t2\n", r"dev:1: label '2': a label is one of 0, 1. Fetch"),
        ("SST2", "dev", "sentiment-dev", "a\t1\n\n", r"sentiment-dev:2: no tab"),
        ("SST2", "dev", "sentiment-dev", "", r"sentiment-dev: holds no labelled example"),
        ("TREC", "test", "TREC_10.label", "NUM:count\n", r"TREC_10.label:1: no question"),
        ("TREC", "test", "TREC_10.label", "NMU:count How\n", r"label 'NMU': a label is one of ABBR, DESC"),
        ("MRPC", "test", MRPC_TEST, "h\t\t\t\t\n1\ta\tb\n", r"test.txt:2: 3 column\(s\): 5 columns"),
        ("MRPC", "test", MRPC_TEST, "h\t\t\t\t\nx\t1\t2\ta\tb\n", r"test.txt:2: label 'x'"),
        ("SST2", "dev", "sentiment-dev", "a\t1\n \t0\n", r"dev:2: ' ': a sentence must be text, not empty"),
        ("SUBJ", "all", "subj.objective", "a\n\n", r"objective:2: '': a sentence must be text, not empty"),
        ("MPQA", "all", "mpqa.pos", b"\xff\n", r"mpqa.pos:1: byte 1 is not UTF-8"),
    ],
)
def test_malformed_files_are_refused(toy, task, split, file, content, message):
    path = toy / "transfer" / task / file
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=message):
        read_transfer(task, split, toy)


@cases(
    ("task", "split", "message"),
    [
        (
            "SUBJ",
            "all",
            r"objective: no such file: the layout is transfer/SUBJ/subj.objective \(plain or .gz\)",
        ),
        ("SST", "dev", "no such transfer task 'SST'. Did you mean 'SST2'"),
        ("MR", "test", "no such split of MR 'test'. Known: all"),
        ("TREC", "dev", "no such split of TREC 'dev'"),
    ],
)
def test_what_is_not_there_is_named(tmp_path, task, split, message):
    with pytest.raises(InputError, match=message):
        read_transfer(task, split, tmp_path)
