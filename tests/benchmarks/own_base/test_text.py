"""What text there is, in which order, and what is left out of it."""

import pytest

from benchmarks.own_base.text import assemble, letters_of, read_free_text, wikipedia_corpus
from rse_study.data.corpus import read_sentences
from rse_study.errors import InputError, MissingFile
from rse_study.spec import fingerprint_of

from .conftest import IN_STS_B, NUM_SYNSETS, NUM_WIKIPEDIA


@pytest.fixture(scope="module")
def text(toy_text):
    return read_free_text(toy_text)


def test_both_sources_are_there_and_sentences_of_sts_b_are_counted_and_gone(text):
    assert text.num_excluded == 2
    whole = text.summary.whole
    assert whole.num_wikipedia == NUM_WIKIPEDIA
    assert whole.num_sentences == NUM_WIKIPEDIA + 2 * NUM_SYNSETS - 1
    assert not {letters_of(one) for one in IN_STS_B} & set(map(letters_of, text.sentences))


def test_amounts_are_nested_and_their_beginnings_are_of_both_sources(text):
    small, large, whole = text.first(100), text.first(200), text.first(0)
    assert large[:100] == small
    assert whole[:200] == large
    assert sorted(whole) == sorted(set(whole))
    assert 20 < text.amount(100).num_wikipedia < 60


def test_an_amount_says_its_words_and_its_fingerprint(text):
    amount = text.amount(100)
    assert amount.num_words == sum(len(one.split()) for one in text.first(100))
    assert amount.text == fingerprint_of(text.first(100)) != text.amount(0).text


def test_the_order_is_the_same_every_time(text, toy_text):
    assert read_free_text(toy_text).sentences == text.sentences
    assert text.sentences != sorted(text.sentences)


def test_what_both_sources_have_counts_once_and_as_wikipedias():
    numbers = [f"sentence {number}" for number in range(150)]
    text = assemble(numbers, ["sentence 3", " sentence 4 ", "another", ""], excluded={"sentence7"})
    assert text.num_duplicates == 2
    assert text.num_excluded == 1
    assert sum(text.is_wikipedia) == 149
    assert len(text.sentences) == 150


@pytest.mark.parametrize("number", [99, 100_000, -1])
def test_an_amount_that_is_not_there_is_refused(text, number):
    with pytest.raises(InputError, match=r"--sentences: .*the text has 399.*0: all of them"):
        text.first(number)


def test_too_little_text_is_refused():
    with pytest.raises(InputError, match="1 sentences are left"):
        assemble(["one"], [], excluded=set())


def test_without_sts_b_nothing_is_read(tmp_path):
    with pytest.raises(MissingFile, match="STSBenchmark"):
        read_free_text(tmp_path)


@pytest.mark.slow  # all of WordNet
def test_the_real_text_is_wikipedias_and_wordnets(data_dir):
    text = read_free_text(data_dir)
    whole = text.summary.whole
    assert whole.num_sentences > 150_000 > whole.num_wikipedia > 16_000
    assert set(read_sentences(wikipedia_corpus(), data_dir)) <= set(text.sentences)
    assert text.num_excluded == 1
