"""Pairs: the published STS tasks, and files of dev pairs."""

import gzip

import numpy as np
import pytest

from rse_study.assets import dev_pairs
from rse_study.data import SUBSETS
from rse_study.data.readers import read_dev, read_sts, sts_splits
from rse_study.errors import InputError, MissingFile
from rse_study.training.trial import Selection
from tests import needs
from tests.cases import cases

# counts as published; the data folder here lacks some tasks
NUM_PAIRS = {
    ("STS12", "test"): 3108,
    ("STS13", "test"): 1500,
    ("STS14", "test"): 3750,
    ("STS15", "test"): 3000,
    ("STS16", "test"): 1186,
    ("STS-B", "train"): 5749,
    ("STS-B", "dev"): 1500,
    ("STS-B", "test"): 1379,
    ("SICK-R", "train"): 4500,
    ("SICK-R", "trial"): 500,
    ("SICK-R", "test"): 4927,
    ("SICK-R", "all"): 9927,
}


def test_dev_sets_are_read_together_in_their_order_and_one_alone_as_it_is(data_dir):
    both = dev_pairs(Selection(dev=["STS-B", "SICK-R"]), data_dir)
    sts_b, sick_r = both.tasks()
    assert (both.name, both.split, len(sts_b), len(sick_r)) == ("STS-B+SICK-R", "dev", 1500, 500)
    assert sick_r.first == read_sts("SICK-R", "trial", data_dir).first
    alone = read_sts("STS-B", "dev", data_dir)
    assert (sts_b.fingerprint, alone.tasks()) == (alone.fingerprint, ())
    assert dev_pairs(Selection(dev=["STS-B"]), data_dir).fingerprint == alone.fingerprint


@pytest.mark.parametrize(
    ("task", "split"), [(task, split) for task in (*SUBSETS, "STS-B", "SICK-R") for split in sts_splits(task)]
)
@cases("variant", ["orig", "senteval"])
def test_published_counts(data_dir, task, split, variant):
    if not (data_dir / "sts" / {"STS-B": "STSBenchmark", "SICK-R": "SICK"}.get(task, task)).is_dir():
        pytest.skip(needs.reason_without_data(task))
    pairs = read_sts(task, split, data_dir, (variant,))
    assert len(pairs) == NUM_PAIRS[task, split]
    assert pairs.gold.min() >= (1 if task == "SICK-R" else 0)
    assert pairs.gold.max() == 5
    assert sum(part.stop - part.start for part in pairs.parts().values()) == len(pairs)
    assert all(text and "\t" not in text for text in (*pairs.first, *pairs.second))


@pytest.fixture
def toy(tmp_path):
    """STS13 with two pairs a subset, one of them without gold, and a line of STS-B with a quotation mark."""
    year, benchmark = tmp_path / "sts" / "STS13" / "orig", tmp_path / "sts" / "STSBenchmark" / "orig"
    year.mkdir(parents=True)
    benchmark.mkdir(parents=True)
    for subset in SUBSETS["STS13"]:
        lines = f'{subset} "one\tand other\tsource\tsource\nno gold\tat all\nlast\tline\n'
        (year / f"STS.input.{subset}.txt").write_text(lines)
        (year / f"STS.gs.{subset}.txt").write_text("2.5\n\n0\n")
    rows = 'g\tf\ty\t0\t4.2\ta "quoted\tb\ng\tf\ty\t1\t1.0\tc\td" e\textra\textra\n'
    (benchmark / "sts-dev.csv.gz").write_bytes(gzip.compress(rows.encode()))
    return tmp_path


def test_pairs_without_gold_are_left_out_subsets_stay_apart_and_quotation_marks_are_text(toy):
    pairs = read_sts("STS13", "test", toy)
    assert pairs.first[:2] == ['FNWN "one', "last"]
    assert pairs.second[:2] == ["and other", "line"]
    assert pairs.gold.tolist() == [2.5, 0] * 3
    assert pairs.parts() == {"FNWN": slice(0, 2), "headlines": slice(2, 4), "OnWN": slice(4, 6)}
    pairs = read_sts("STS-B", "dev", toy)
    assert list(zip(pairs.first, pairs.second, strict=True)) == [('a "quoted', "b"), ("c", 'd" e')]
    assert np.array_equal(pairs.gold, [4.2, 1.0])


def test_a_set_that_lacks_a_subset_says_which(toy):
    (toy / "sts/STS13/orig/STS.gs.OnWN.txt").unlink()
    with pytest.raises(MissingFile, match=r"STS.gs.OnWN.txt: no such file") as caught:
        read_sts("STS13", "test", toy)
    assert caught.value.part == "OnWN"
    with pytest.raises(MissingFile) as caught:
        read_sts("STS14", "test", toy)
    assert caught.value.part == ""


def test_fingerprint_follows_the_content(toy):
    before = read_sts("STS13", "test", toy).fingerprint
    assert before == read_sts("STS13", "test", toy).fingerprint
    (toy / "sts/STS13/orig/STS.gs.OnWN.txt").write_text("2.5\n\n1\n")
    assert before != read_sts("STS13", "test", toy).fingerprint


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("gs.OnWN", "2.5\n", r"STS.gs.OnWN.txt: 1 gold lines for 3 pairs in STS.input.OnWN.txt"),
        ("gs.OnWN", "2.5\nx\n1\n", r"OnWN.txt:2: gold score 'x': it must be a number from 0 to 5. Fetch the"),
        ("gs.OnWN", "2.5\n7\n1\n", r"gold score '7'"),
        ("gs.OnWN", "2.5\n1_0\n1\n", r"OnWN.txt:2: gold score '1_0'"),
        ("gs.OnWN", "2.5\n\u0663\n1\n", r"OnWN.txt:2: gold score"),
        ("input.OnWN", "a\tb\nc\td\n\tf\n", r"STS.input.OnWN.txt:3: 2 column\(s\): .* no sentence is empty"),
        ("gs.OnWN", "2.5\nnan\n1\n", r"gold score 'nan'"),
        ("input.OnWN", "a\tb\nc\td\nno tab\n", r"STS.input.OnWN.txt:3: 1 column\(s\): at least 2 columns"),
    ],
)
def test_malformed_files_are_refused(toy, file, content, message):
    (toy / "sts" / "STS13" / "orig" / f"STS.{file}.txt").write_text(content)
    with pytest.raises(InputError, match=message):
        read_sts("STS13", "test", toy)


@pytest.mark.parametrize(
    ("task", "split", "message"),
    [
        ("STS16", "test", r"the layout is sts/STS16/orig/STS.input.answer-answer.txt.*RSE_STUDY_DATA"),
        ("SICK-R", "test", r"the layout is sts/SICK/SICK_test_annotated.txt \(plain or .gz\)"),
        ("STS-B", "train", r"STSBenchmark/orig/sts-train.csv: no such file"),
        ("STSB", "dev", "no such STS task 'STSB'. Did you mean 'STS-B'"),
        ("STS-B", "dve", "no such split of STS-B 'dve'. Did you mean 'dev'"),
    ],
)
def test_what_is_not_there_is_named(toy, task, split, message):
    with pytest.raises(InputError, match=message):
        read_sts(task, split, toy)


NO_NUMBERS = ["1_0", "\u0663", "\uff13", "1e308", "inf", "0x1p3", "4,5", "1e", ".", "n/a", "3 4"]
PAIRS = "a cat sits\ta cat is sitting\t4.5\nit rains\tthe train is late\t0\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pairs.tsv").write_text(PAIRS, encoding="utf-8")
    return tmp_path


@cases(
    "lines",
    [
        PAIRS,
        f"sentence1\tsentence2\tscore\n{PAIRS}",
        f"\ufeffSentence1\tSentence2\tScore\r\n{PAIRS}\n \n\n\t\t\n",
    ],
)
def test_a_header_and_blank_lines_are_no_pairs(lines, folder):
    (folder / "own.tsv").write_text(lines, encoding="utf-8", newline="")
    pairs = read_dev("own.tsv", folder)
    assert (pairs.first, pairs.gold.tolist()) == (["a cat sits", "it rains"], [4.5, 0.0])


def test_quotation_marks_that_are_no_tables_are_text(folder):
    lines = 'a "cat" sits\t"I see," she said, "a cat"\t-1.5e0\n"\tb\t.5\n'
    (folder / "own.tsv").write_text(lines, encoding="utf-8")
    pairs = read_dev("own.tsv", folder)
    assert (pairs.first, pairs.second) == (['a "cat" sits', '"'], ['"I see," she said, "a cat"', "b"])
    assert pairs.gold.tolist() == [-1.5, 0.5]


def test_a_file_is_read_from_the_first_folder_that_has_it(folder, tmp_path):
    pairs = read_dev("pairs.tsv", tmp_path / "none", folder)
    assert (pairs.first[0], pairs.second[1], pairs.gold.tolist()) == (
        "a cat sits",
        "the train is late",
        [4.5, 0.0],
    )
    with pytest.raises(MissingFile, match="looked for in"):
        read_dev("other.tsv", tmp_path / "none", folder)


def test_where_a_file_lies_changes_neither_pairs_nor_identity(folder):
    moved = folder / "moved"
    moved.mkdir()
    (moved / "pairs.tsv").write_text(PAIRS, encoding="utf-8")
    here, there = Selection(dev="pairs.tsv"), Selection(dev="moved/pairs.tsv")
    assert here.identity() == there.identity() != Selection(dev="others.tsv").identity()
    assert dev_pairs(here, folder).fingerprint == dev_pairs(there, folder).fingerprint
    (moved / "pairs.tsv").write_text(PAIRS.replace("4.5", "4"), encoding="utf-8")
    assert dev_pairs(here, folder).fingerprint != dev_pairs(there, folder).fingerprint


def test_it_stands_beside_other_sets(folder):
    both = dev_pairs(Selection(dev=["builtin", "pairs.tsv"]), folder)
    assert list(both.subsets) == ["builtin", "pairs.tsv"]


@cases(
    ("lines", "says"),
    [
        ("one\ttwo", ":1: no column 'sentence1'"),
        (PAIRS + "one\ttwo\tthree", ":3: score 'three'"),
        (PAIRS + "one\ttwo\t3\tfour", ":3: cells: 4, not 3"),
        (PAIRS + "one\t \t3", ":3: '.*': a sentence must be text, not empty"),
        *(
            (PAIRS + f"one\ttwo\t{gold}", ":3: score .*: it must be a number in digits")
            for gold in NO_NUMBERS
        ),
        *(
            (PAIRS + f"{one}\ttwo\t3", ":3: a cell in quotes: .* none stands in quotes")
            for one in ('"one"', '"o ""n"" e"')
        ),
        (PAIRS + 'one\ttwo\t"3"', ":3: a cell in quotes"),
        (PAIRS + "one\ttw\0o\t3", ":3: a NUL character"),
        (PAIRS.replace("\n", "\r"), ":1: a carriage return in the line"),
        (
            "one\ttwo\tsimilarity\n" + PAIRS,
            ":1: no column 'sentence1', or two of them: the header must have sentence1, sentence2, score",
        ),
        (PAIRS + "sentence1\tsentence2\tscore\n", ":3: score 'score'"),
        ("", "fewer than two values of score: nothing could be measured"),
        ("one\ttwo\t3\nthree\tfour\t3", "fewer than two values of score"),
    ],
)
def test_a_file_that_holds_no_pairs_is_refused_by_line(lines, says, folder):
    (folder / "pairs.tsv").write_text(lines, encoding="utf-8")
    with pytest.raises(InputError, match=says):
        read_dev("pairs.tsv", folder)
