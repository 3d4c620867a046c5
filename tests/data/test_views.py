"""Views from a file: their rows, the corpus they belong to, and their places in batches."""

import csv
import gzip
import json

import numpy as np
import pytest
from pydantic import ValidationError

from rse_study.data.batches import Batches
from rse_study.data.corpus import Corpus, read_corpus
from rse_study.data.own_tables import Rewrites, read_rows, with_views
from rse_study.data.tokenised import TokenisedCorpus, encode, tokenise
from rse_study.errors import InputError
from rse_study.streams import Streams
from rse_study.training.trial import Trial
from tests.cases import cases

PAIRS = [("a b", "c d"), ("e f", "g h")]
NAMED = {"columns": ["sent0", "sent1"]}
FILES = {
    "plain.tsv": b"a b\tc d\ne f\tg h\n",
    "mark_and_crlf.tsv": b"\xef\xbb\xbfa b\tc d\r\n\r\n e f \tg h\r\n",
    "packed.tsv.gz": gzip.compress(b"a b\tc d\ne f\tg h"),
    "plain.csv": b'"a b",c d\ne f,"g h"\n',
    "named.csv": b"id,sent1,sent0\n1,c d,a b\n2,g h,e f\n",
    "named.tsv": b"sent0\tsent1\na b\tc d\ne f\tg h\n",
    "named.jsonl": b'{"sent0": "a b", "sent1": "c d"}\n{"sent1": "g h", "sent0": "e f", "x": 1}\n',
}


@cases("name", FILES)
def test_rows_are_the_same_in_every_format(name, tmp_path):
    (tmp_path / name).write_bytes(FILES[name])
    views = Rewrites(file=name, **(NAMED if name.startswith("named") else {}))
    assert list(read_rows(views, tmp_path)) == PAIRS
    assert list(read_rows(views.model_copy(update={"file": name.removesuffix(".gz")}), tmp_path)) == PAIRS


@cases(
    ("content", "columns", "said"),
    [
        ("a b\n", (), "a.tsv:1: cells: 1"),
        ("a b\tc d\te f\tg h\n", (), "a.tsv:1: cells: 4"),
        ("a b\tc d\te f\ng h\ti j\n", (), "a.tsv:2: cells: 2"),
        ("a b\tc d\ng h\ti j\tk l\n", (), "a.tsv:2: cells: 3"),
        ("a b\t \n", (), "a.tsv:1: ' ': a sentence must be text"),
        ('a b\t"c\td"\n', (), None),
        ('a b\t"c d"\n', (), "a.tsv:1: a cell in quotes"),
        ("sent0\tsent1\na b\tc d\n", (), "a.tsv:1: a header"),
        ("sent0\tsent1\na b\tc d\n", ("sent0", "sent2"), "a.tsv:1: no column 'sent2'"),
        ("a b\tc d\re f\tg h\n", (), "a.tsv:1: a carriage return"),
        ("你好吗\t您好\n", (), None),
        ("a b\ta b\tx y\nc d\tx y\tx y\n", (), None),
    ],
)
def test_what_is_no_row_is_refused_where_it_stands(content, columns, said, tmp_path):
    (tmp_path / "a.tsv").write_text(content, encoding="utf-8")
    views = Rewrites(file="a.tsv", columns=columns)
    if said is None:
        assert len(list(read_rows(views, tmp_path))) == content.count("\n")
    else:
        with pytest.raises(InputError) as error:
            list(read_rows(views, tmp_path))
        assert said in str(error.value)


@cases(
    "given",
    [
        {},
        {"file": "a.txt"},
        {"file": "a.jsonl"},
        {"file": "a.tsv", "dataset": "x", **NAMED},
        {"file": "a.tsv", "columns": ["a"]},
        {"dataset": "x"},
        {"dataset": "x", "columns": ["a", "b", "c", "d"]},
    ],
)
def test_views_are_one_table_of_two_or_three_columns(given):
    with pytest.raises(ValidationError, match="of 2 or 3 `columns`"):
        Trial(views=given)


def test_the_first_row_of_a_sentence_counts_and_each_must_have_one(tmp_path):
    (tmp_path / "a.tsv").write_text("a b\tfirst\tx x\na b\tsecond\ty y\nc d\tthird\tz z\n")
    views = Rewrites(file="a.tsv")
    texts, note = with_views(views, ["c d", "a b"], tmp_path, is_triple=True)
    assert texts == ["c d", "a b", "third", "first", "z z", "x x"]
    assert note == "2 of each sentence (1 rows of repeated ones dropped)"
    with pytest.raises(InputError, match="2 of 3 training sentences have no row, first 'e'"):
        with_views(views, ["a b", "e", "f"], tmp_path, is_triple=False)
    (tmp_path / "a.tsv").write_text("a b\tfirst\nc d\tthird\n")
    with pytest.raises(InputError, match="no third column"):
        with_views(views, ["a b"], tmp_path, is_triple=True)


def test_without_a_corpus_the_first_column_is_it_for_every_row_of_a_study(tmp_path):
    (tmp_path / "a.tsv").write_text("a b\tc d\na b\tx y\ne f\tg h\n")
    trial = Trial(views={"file": "a.tsv"})
    read = read_corpus(trial.corpus, tmp_path)
    assert (read.sentences, read.num_duplicates) == (["a b", "e f"], 1)
    frozen = json.loads(trial.model_dump_json())
    assert Trial.model_validate(frozen) == trial
    others = (
        Trial.model_validate({**frozen, "views": {"file": "b.tsv"}}),
        Trial.model_validate({**frozen, "views": None}),
    )
    assert {one.corpus for one in others} == {trial.corpus} == {Corpus(source={"file": "a.tsv"})}
    assert Trial(views={"file": "a.tsv"}, corpus={"source": "builtin"}).corpus == Corpus()
    assert Trial().corpus == Corpus()


def test_a_dataset_of_the_hubs_layout_is_read_by_its_columns(tmp_path):
    (tmp_path / "nli").mkdir()
    with (tmp_path / "nli" / "train.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([("sent0", "sent1"), ("a, b", 'he said "no"'), ("NA", "null")])
    trial = Trial(views={"dataset": "nli", **NAMED})
    assert read_corpus(trial.corpus, tmp_path).sentences == ["a, b", "NA"]
    assert list(read_rows(trial.views, tmp_path)) == [("a, b", 'he said "no"'), ("NA", "null")]
    with pytest.raises(InputError, match="no column 'sent2'"):
        list(read_rows(Rewrites(dataset="nli", columns=["sent0", "sent2"]), tmp_path))


@pytest.mark.parametrize("num_texts", [2, 3])
@pytest.mark.parametrize("size", [1, 2])
def test_a_batch_holds_each_sentences_own_views_padded_alike(num_texts, size, sentences, tokenizer, tmp_path):
    views = [[" ".join(reversed(one.split()[:k])) for one in sentences] for k in (3, 5)][: num_texts - 1]
    texts = [*sentences, *(text for view in views for text in view)]
    corpus = tokenise(texts, tokenizer, 12, tmp_path / "viewed", num_texts=num_texts)
    plain = tokenise(sentences, tokenizer, 12, tmp_path / "plain")
    assert len(TokenisedCorpus.open(tmp_path / "viewed")) == len(sentences)
    assert corpus.fingerprint != plain.fingerprint
    for rank in range(size):
        one, other = (Batches(each, 16, Streams(5), rank, size) for each in (corpus, plain))
        batch, bare = one.batch(4), other.batch(4)
        assert bare.views == () and np.array_equal(batch.rows, bare.rows)
        chosen = one.sentences(4)[batch.rows.numpy()]
        for text, part in zip([sentences, *views], (batch, *batch.views), strict=True):
            assert part.ids.shape == batch.ids.shape and np.array_equal(part.rows, batch.rows)
            expected = encode([text[i] for i in chosen], tokenizer, 12)
            assert [row[real].tolist() for row, real in zip(part.ids, part.mask, strict=True)] == expected
