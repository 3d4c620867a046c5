"""Words read from files, and what is said of files that cannot be read."""

import pytest

from rse_study.data.lexicons import PPDB, STOP_WORDS, SynonymList, english_stopwords, keyboard, lookalikes
from rse_study.errors import InputError


def write(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def test_synonyms_go_both_ways_in_the_order_of_the_file(tmp_path):
    write(tmp_path, PPDB, "car auto\nbus coach\ncoach bus\nvan car\nodd odd\n\n")
    lists = SynonymList.open(tmp_path)
    assert lists.nearest("car", 5) == ["auto", "van"]
    assert lists.nearest("car", 1) == ["auto"]
    assert lists.nearest("bus", 5) == ["coach"]
    assert lists.nearest("odd", 5) == lists.nearest("unheard", 5) == []


def test_the_real_lists_and_look_alikes(data_dir):
    lists = SynonymList.open(data_dir)
    assert "modeling" in lists.nearest("modelling", 50)
    assert len(lists.synonyms) > 10_000
    shapes, keys = lookalikes(data_dir), keyboard(data_dir)
    assert "о" in shapes["o"]  # Cyrillic
    assert set(keys["m"]) == {"h", "j", "k", "n"}
    assert set(keys["M"]) == {"H", "J", "K", "N"}
    for table in (shapes, keys):
        assert all(len(other) == 1 and other != key for key, others in table.items() for other in others)


def test_a_line_that_is_no_pair_and_an_archive_without_stop_words(tmp_path):
    write(tmp_path, PPDB, "car auto\ncar\n")
    with pytest.raises(InputError, match=r"synonyms.txt:2: is no pair of words"):
        SynonymList.open(tmp_path)
    write(tmp_path, str(STOP_WORDS), "no archive")
    with pytest.raises(InputError, match="stopwords/english"):
        english_stopwords(tmp_path)
