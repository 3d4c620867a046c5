"""Dev pairs by name, a user's own file among them."""

import pytest

from rse_study.assets.prepare import dev_pairs
from rse_study.data.readers import read_dev
from rse_study.errors import InputError, MissingFile
from rse_study.training.trial import Selection
from tests.cases import cases

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
        ("one\ttwo", ":1: no pair"),
        (PAIRS + "one\ttwo\tthree", ":3: no pair"),
        (PAIRS + "one\t\t3", ":3: no pair"),
        (PAIRS + "one\ttwo\tnan", ":3: no pair"),
        (PAIRS + "one\ttwo\t3\tfour", ":3: no pair"),
        *((PAIRS + f"one\ttwo\t{gold}", ":3: no pair: each line is sentence TAB") for gold in NO_NUMBERS),
        *(
            (PAIRS + f"{one}\ttwo\t3", ":3: a field in quotes: .* nothing in quotes")
            for one in ('"one"', '"o ""n"" e"')
        ),
        (PAIRS + 'one\ttwo\t"3"', ":3: a field in quotes"),
        (PAIRS + "one\ttw\0o\t3", ":3: a NUL character"),
        (PAIRS.replace("\n", "\r"), ":1: a carriage return in the line"),
        (
            "one\ttwo\tsimilarity\n" + PAIRS,
            r":1: no pair: .*\(a header is sentence1 TAB sentence2 TAB score\)",
        ),
        (PAIRS + "sentence1\tsentence2\tscore\n", ":3: no pair"),
        ("", "0 pairs: a correlation needs pairs with different similarities"),
        ("one\ttwo\t3\nthree\tfour\t3", "2 pairs: a correlation needs pairs with different similarities"),
    ],
)
def test_a_file_that_holds_no_pairs_is_refused_by_line(lines, says, folder):
    (folder / "pairs.tsv").write_text(lines, encoding="utf-8")
    with pytest.raises(InputError, match=says):
        read_dev("pairs.tsv", folder)
