import pytest

from rse_study.data.wordnet import FOLDER, synonyms_of, wordnet_archive
from rse_study.errors import InputError, MissingFile


def test_synonyms_are_single_words_other_than_the_word_itself(data_dir):
    found = synonyms_of("car", data_dir)
    assert {"auto", "automobile"} <= set(found)
    assert "car" not in found
    assert all(word.isalpha() and word == word.lower() for word in found)
    assert list(found) == sorted(set(found))


def test_a_word_nobody_knows_has_none(data_dir):
    assert synonyms_of("zxqy", data_dir) == ()


def test_without_the_archive_it_is_said_where_it_belongs(tmp_path):
    with pytest.raises(MissingFile, match=r"no WordNet.*RSE_STUDY_DATA") as caught:
        wordnet_archive(tmp_path)
    assert str(FOLDER) in caught.value.where


def test_another_archive_is_refused(tmp_path):
    path = tmp_path / FOLDER / "corpora" / "wordnet.zip"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no archive")
    with pytest.raises(InputError, match=r"is not WordNet.*wordnet/data.noun.*Fetch it again"):
        wordnet_archive(tmp_path)
