"""Words read from files, and what is said of files that cannot be read."""

import math

import numpy as np
import pytest

from rse_study.errors import InputError, MissingFile
from rse_study.evaluation.attacks.lexicons import lookalikes, ppdb, stopwords
from rse_study.evaluation.attacks.lexicons.vectors import Vectors
from tests.cases import cases


def write(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def test_synonyms_go_both_ways_in_the_order_of_the_file(tmp_path):
    write(tmp_path, ppdb.FILE, "car auto\nbus coach\ncoach bus\nvan car\nodd odd\n\n")
    lists = ppdb.SynonymList.open(tmp_path)
    assert lists.nearest("car", 5) == ["auto", "van"]
    assert lists.nearest("car", 1) == ["auto"]
    assert lists.nearest("bus", 5) == ["coach"]
    assert lists.nearest("odd", 5) == lists.nearest("unheard", 5) == []


def test_the_real_lists_and_look_alikes(data_dir):
    lists = ppdb.SynonymList.open(data_dir)
    assert "modeling" in lists.nearest("modelling", 50)
    assert len(lists.synonyms) > 10_000
    shapes, keys = lookalikes.homoglyphs(data_dir), lookalikes.keyboard(data_dir)
    assert "о" in shapes["o"]  # Cyrillic
    assert set(keys["m"]) == {"h", "j", "k", "n"}
    assert set(keys["M"]) == {"H", "J", "K", "N"}
    for table in (shapes, keys):
        assert all(len(other) == 1 and other != key for key, others in table.items() for other in others)


def test_a_line_that_is_no_pair_and_an_archive_without_stop_words(tmp_path):
    write(tmp_path, ppdb.FILE, "car auto\ncar\n")
    with pytest.raises(InputError, match=r"synonyms.txt:2: is no pair of words"):
        ppdb.SynonymList.open(tmp_path)
    write(tmp_path, str(stopwords.ARCHIVE), "no archive")
    with pytest.raises(InputError, match="stopwords/english"):
        stopwords.english_stopwords(tmp_path)


@pytest.mark.parametrize("header", ["", "4 3\n"])
def test_neighbours_are_those_of_a_plain_loop(tmp_path, header):
    rows = {"a": (3, 0, 0), "b": (1, 1, 0), "c": (0, 0, 2), "d": (-1, 0, 0)}
    lines = "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in rows.items())
    vectors = Vectors.open(write(tmp_path, "v.txt", header + lines))
    for word, row in rows.items():
        cosines = {}
        for other, numbers in rows.items():
            dot = sum(x * y for x, y in zip(row, numbers, strict=True))
            cosines[other] = dot / math.hypot(*row) / math.hypot(*numbers)
            assert vectors.cosine(word, other) == pytest.approx(cosines[other], abs=1e-6)
        nearest = sorted((other for other in rows if other != word), key=lambda other: -cosines[other])
        assert vectors.nearest(word, 9) == nearest
        assert vectors.nearest(word, 2) == nearest[:2]
    assert vectors.nearest("unheard", 2) == []
    assert vectors.cosine("a", "unheard") is None


def test_a_zero_vector_is_near_nothing_and_the_first_of_a_word_counts(tmp_path):
    vectors = Vectors.open(write(tmp_path, "v.txt", "a 0 0\nb 1 0\nb 0 1\nc 1 0\n"))
    assert np.isfinite(vectors.unit).all()
    assert vectors.cosine("b", "c") == 1.0
    assert vectors.cosine("a", "c") == 0.0


@cases(
    ("content", "message"),
    [
        ("a 1 2\nb 1\n", r"v.txt:2: is no vector: a word and 2 finite numbers"),
        ("a 1 2\nb 1 x\n", r"v.txt:2: is no vector"),
        ("a 1 2\nb 1 nan\n", r"v.txt:2: is no vector"),
        ("a 1 2\n\n", r"v.txt:2: is no vector"),
        ("a\n", r"v.txt:1: is no vector"),
        ("", r"v.txt: holds no vectors"),
    ],
)
def test_files_that_hold_no_vectors(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        Vectors.open(write(tmp_path, "v.txt", content))
    with pytest.raises(MissingFile):
        Vectors.open(tmp_path / "none.txt")
