from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from rse_study.data import wordnet
from rse_study.data.wordnet import FOLDER, synonyms_of, wordnet_archive
from rse_study.errors import InputError, MissingFile


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
    monkeypatch.setattr(wordnet, "MOST_BYTES", 2**20)
    path = tmp_path / FOLDER / "corpora" / "wordnet.zip"
    path.parent.mkdir(parents=True)
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        archive.writestr("wordnet/data.noun", bytes(2**20))
    assert wordnet_archive(tmp_path) == path
    with ZipFile(path, "a", ZIP_DEFLATED) as archive:
        archive.writestr("wordnet/data.verb", b"1")
    with pytest.raises(InputError, match=r"holds no WordNet.*at most 1 MiB unpacked"):
        wordnet_archive(tmp_path)
