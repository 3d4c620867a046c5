import json
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from rse_study.data.lexicons import (
    FOLDER,
    KEYBOARD,
    LOOKALIKES,
    lookalikes,
    neighbouring_keys,
    synonyms_of,
    wordnet_archive,
)
from rse_study.errors import InputError, MissingFile
from tests.cases import cases


def test_synonyms_are_single_words_other_than_the_word_itself(data_dir):
    found = synonyms_of("car", data_dir)
    assert {"auto", "automobile"} <= set(found)
    assert "car" not in found
    assert all(word.isalpha() and word == word.lower() for word in found)
    assert list(found) == sorted(set(found))
    assert synonyms_of("zxqy", data_dir) == ()


def test_without_the_archive_it_is_said_where_it_belongs_and_another_is_refused(tmp_path):
    with pytest.raises(MissingFile, match=r"no WordNet.*RSE_STUDY_DATA") as caught:
        wordnet_archive(tmp_path)
    assert str(FOLDER) in caught.value.where
    path = tmp_path / FOLDER / "corpora" / "wordnet.zip"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no archive")
    with pytest.raises(InputError, match=r"holds no WordNet.*wordnet/data.noun.*Fetch it again"):
        wordnet_archive(tmp_path)


def test_an_archive_that_unpacks_to_more_than_any_lexicon_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("rse_study.data.lexicons.MOST_BYTES", 2**20)
    path = tmp_path / FOLDER / "corpora" / "wordnet.zip"
    path.parent.mkdir(parents=True)
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        archive.writestr("wordnet/data.noun", bytes(2**20))
    assert wordnet_archive(tmp_path) == path
    with ZipFile(path, "a", ZIP_DEFLATED) as archive:
        archive.writestr("wordnet/data.verb", b"1")
    with pytest.raises(InputError, match=r"holds no WordNet.*at most 1 MiB unpacked"):
        wordnet_archive(tmp_path)


def write(folder, below, content):
    path = folder / below
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def test_the_tables_here_know_every_letter(data_dir):
    keys, alike = neighbouring_keys(data_dir), lookalikes(data_dir)
    assert set(keys) == set("abcdefghijklmnopqrstuvwxyz")
    assert set(keys["a"]) == set("qwszx")
    assert all(len(c) == 1 and c.isalnum() for near in keys.values() for c in near)
    assert "\u0430" in alike["a"]  # Cyrillic
    assert all(len(c) == 1 and not c.isascii() for found in alike.values() for c in found)
    assert {key.isalpha() for key in alike} == {True}


def test_single_strings_blanks_and_shifted_keys_and_a_missing_table(tmp_path):
    table = {"u": ["7", "&", " t", "i"], "%": "$", "m": "n", "x": ["#"]}
    assert neighbouring_keys(write(tmp_path, KEYBOARD, table)) == {"u": ("7", "t", "i"), "m": ("n",)}
    with pytest.raises(MissingFile, match=rf"the layout is {LOOKALIKES}"):
        lookalikes(tmp_path)


@cases(
    ("content", "message"),
    [
        ("{", r"keyboard_en.json: is no JSON .*one JSON object: a character and a list.*Fetch it again"),
        ("[1]", "holds a list"),
        ({"ab": ["c"]}, "'ab'"),
        ({"a": ["bc"]}, r"'a': \['bc'\]"),
        ({"a": 3}, "'a': 3"),
        ({"a": [3]}, "'a'"),
    ],
)
def test_malformed_tables_are_refused(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        neighbouring_keys(write(tmp_path, KEYBOARD, content))
