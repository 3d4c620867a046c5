"""Tables of a user's own, as they are written elsewhere: CSV, TSV, JSON Lines and Parquet."""

import csv
import gzip
import json

import pyarrow
import pytest
from pyarrow import parquet

from rse_study.data.labelled_sets import text_of
from rse_study.data.own_tables import read_labelled_texts, read_pairs
from rse_study.errors import InputError
from tests.cases import cases

PAIRS = [("null", 'he said "no, thanks"', 0.25), ("NA", "a, b\nand c", 1e-3), ("None", "nan", 4.5)]
COLUMNS = ("sentence1", "sentence2", "score")
HEAD = "sentence1,sentence2,score\n"
SOME = f"{HEAD}a,b,1\n"


def rows_of(pairs):
    return list(zip(pairs.first, pairs.second, pairs.gold.tolist(), strict=True))


def written(path, columns, rows):
    """The table at a path in the format of its ending, with columns that nobody asks for."""
    columns, rows = ["id", *columns, "split"], [[number, *row, "test"] for number, row in enumerate(rows)]
    if path.suffix == ".parquet":
        table = [dict(zip(columns, row, strict=True)) for row in rows]
        parquet.write_table(pyarrow.Table.from_pylist(table), path)
    elif path.suffix == ".jsonl":
        lines = [json.dumps(dict(zip(columns, row, strict=True))) for row in rows]
        path.write_text("\n\n".join(lines), encoding="utf-8")
    else:
        with path.open("w", encoding="utf-8-sig", newline="") as stream:
            csv.writer(stream).writerows([columns, *rows])
    return path


@cases("ending", [".csv", ".jsonl", ".parquet"])
def test_pairs_are_the_same_in_every_format(ending, tmp_path):
    pairs = read_pairs(written(tmp_path / f"a{ending}", COLUMNS, PAIRS), "mine", "test")
    assert rows_of(pairs) == PAIRS and (pairs.name, pairs.split, pairs.subsets) == ("mine", "test", {})


@cases("ending", [".csv", ".jsonl", ".parquet"])
def test_columns_of_other_names_are_read_in_any_order(ending, tmp_path):
    path = written(tmp_path / f"a{ending}", ("gold", "b", "a"), [(z, y, x) for x, y, z in PAIRS])
    assert rows_of(read_pairs(path, "mine", "test", ("a", "b", "gold"))) == PAIRS


@cases(
    ("name", "text"),
    [
        ("a.csv", "a,b,1\n\nc,d,2\n,,\n"),
        ("a.csv", "Score,SENTENCE2,Sentence1\r\n1,b,a\r\n2,d,c"),
        ("a.tsv", "a\tb\t1\nc\td\t2\n"),
        ("a.tsv", "split\tscore\tsentence2\tsentence1\nx\t1\tb\ta\nx\t2\td\tc\n"),
        ("a.csv.gz", "sentence1,sentence2,score\na,b,1\nc,d,2\n"),
    ],
)
def test_a_header_goes_by_its_names_and_three_columns_need_none(name, text, tmp_path):
    content = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert rows_of(read_pairs(tmp_path / name, "mine", "test")) == [("a", "b", 1.0), ("c", "d", 2.0)]


def test_the_fingerprint_is_that_of_the_content_whatever_the_format(tmp_path):
    files = [written(tmp_path / f"a{ending}", COLUMNS, PAIRS) for ending in (".csv", ".jsonl", ".parquet")]
    (fingerprint,) = {read_pairs(file, "mine", "test").fingerprint for file in files}
    other = written(tmp_path / "a.csv", COLUMNS, [*PAIRS[:2], (*PAIRS[2][:2], 4.6)])
    assert read_pairs(other, "mine", "test").fingerprint != fingerprint


REFUSED = [
    ("a.csv", "sentence1,sentence2,label\na,b,1\n", "a.csv:1: no column 'score'"),
    ("a.csv", "sentence1;sentence2;score\na;b;1\n", "a.csv:1: no column 'sentence1'.*commas separate"),
    (
        "a.csv",
        "one,other,high\na,b,1\n",
        "a.csv:1: no column .* the header must have sentence1, sentence2, score",
    ),
    ("a.csv", "sentence1,sentence2,score,score\na,b,1,2\n", "a.csv:1: no column 'score', or two"),
    ("a.csv", f"{SOME}a, b, c,2\n", "a.csv:3: cells: 4, not 3"),
    ("a.csv", f'{SOME}"a\nb",c,2\nd,e,high\n', "a.csv:5: score 'high'"),
    ("a.csv", f'{SOME}c,d,2\n"e,f,3\n', "a.csv:4: is no row"),
    ("a.csv", f"{SOME}c,d,nan\n", "a.csv:3: score 'nan'"),
    ("a.csv", f"{SOME}c,d,1e400\n", "a.csv:3: score '1e400'"),
    ("a.csv", f"{SOME}c, ,2\n", "a.csv:3: '.*': a sentence must be text, not empty"),
    ("a.csv", HEAD, "fewer than two values of score"),
    ("a.csv", f"{SOME}c,d,1.0\n", "fewer than two values of score"),
    ("a.csv", f"{SOME}caf\xe9,d,2\n".encode("latin-1"), "a.csv:3: byte 4 is not UTF-8"),
    ("a.csv", f"{SOME}c\0,d,2\n", "a.csv:3: a NUL character"),
    ("a.jsonl", '{"sentence1": "a", "sentence2": "b", "gold": 1}', "a.jsonl:1: no 'score'"),
    ("a.jsonl", '{"sentence1": "a", "sentence2": null, "score": 1}', "a.jsonl:1: None: a sentence"),
    ("a.jsonl", '{"sentence1": "a", "sentence2": "b", "score": true}', "a.jsonl:1: score True"),
    ("a.jsonl", '{"sentence1": "\\ud800", "sentence2": "b", "score": 1}', "a.jsonl:1: is no JSON"),
    ("a.jsonl", "[" * 50_000, "a.jsonl:1: is no JSON"),
    ("a.jsonl", f'{{"score": {"9" * 5000}}}', "a.jsonl:1: is no JSON"),
    ("a.parquet", SOME, "a.parquet: cannot be read"),
]


@cases(("name", "content", "says"), REFUSED)
def test_pairs_that_are_none_are_refused_by_row(name, content, says, tmp_path):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=says):
        read_pairs(tmp_path / name, "mine", "test")


@cases(
    ("rows", "columns", "says"),
    [
        ([*PAIRS, ("a", None, 1.0)], COLUMNS, "a.parquet, row 4: None: a sentence must be text"),
        ([*PAIRS, ("a", "b", float("nan"))], COLUMNS, "a.parquet, row 4: score nan"),
        (PAIRS, ("sentence1", "sentence2", "gold"), "a.parquet: no column 'score'"),
        (PAIRS, ("sentence1", "sentence2"), "a.parquet: no column 'score'"),
    ],
)
def test_rows_of_parquet_are_refused_by_number(rows, columns, says, tmp_path):
    path = written(tmp_path / "a.parquet", columns, [row[: len(columns)] for row in rows])
    with pytest.raises(InputError, match=says):
        read_pairs(path, "mine", "test")


def test_columns_that_are_named_are_there_once_and_not_taken_by_their_order(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,gold\nx,y,1\nz,w,2\n")
    (tmp_path / "b.csv").write_text("x,y,1\nz,w,2\n")
    for name, columns in (("a.csv", ("a", "a", "gold")), ("b.csv", ("a", "b", "gold"))):
        with pytest.raises(InputError, match=f"{name}:1: no column 'a', or two of them"):
            read_pairs(tmp_path / name, "mine", "test", columns)


TEXTS = [("null", "yes"), ("so, so", "no"), ("NA", "maybe"), ("what?", "no")]


@cases("ending", [".csv", ".jsonl", ".parquet"])
def test_texts_have_any_labels(ending, tmp_path):
    path = written(tmp_path / f"a{ending}", ("text", "label"), TEXTS)
    found = read_labelled_texts(path, "mine", ("text", "label"))
    assert found.texts == [text_of(text, where="") for text, _ in TEXTS]
    assert [found.classes[label] for label in found.labels] == [label for _, label in TEXTS]


def test_labels_may_be_numbers(tmp_path):
    path = written(tmp_path / "a.parquet", ("text", "label"), [("a", 1), ("b", 0), ("c", 1)])
    found = read_labelled_texts(path, "mine", ("text", "label"))
    assert (found.classes, found.labels.tolist()) == (("0", "1"), [1, 0, 1])


@cases(
    ("name", "text", "says"),
    [
        ("a.csv", "a text,yes\nanother,no\n", "a.csv:1: no column 'text'"),
        ("a.csv", "text,label\na,yes\nb, \n", "a.csv:3: label ' '"),
        ("a.csv", "text,label\na,yes\nb,yes\n", "fewer than two values of label"),
        ("a.jsonl", '{"text": "a", "label": null}', "a.jsonl:1: label None"),
        ("a.jsonl", '{"text": "a", "label": NaN}', "a.jsonl:1: label nan"),
    ],
)
def test_texts_without_labels_are_refused_by_row(name, text, says, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=says):
        read_labelled_texts(tmp_path / name, "mine", ("text", "label"))
