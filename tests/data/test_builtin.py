import json
import re
from collections import Counter
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
import torch

from rse_study.data import builtin, cache_dir, data_dir
from rse_study.data.batches import Synonyms, with_synonyms
from rse_study.data.builtin import vocabulary
from rse_study.data.lexicons import (
    FOLDER,
    KEYBOARD,
    LOOKALIKES,
    lookalikes,
    neighbouring_keys,
    synonyms_of,
    wordnet_archive,
)
from rse_study.data.tokenised import marks_beginnings
from rse_study.errors import InputError, MissingFile
from rse_study.evaluation.sts import Similarity, evaluate_sts
from rse_study.spec import fingerprint_of
from rse_study.streams import Streams
from tests.cases import cases
from tests.methods.problem import CLS, SEP, make_batch, make_synonyms

# Golden: what a study's identity stands for. When the grammar or its words change, bump what must be bumped.
GOLDEN = {
    "corpus": "ee6264002f73a4ed0512b3f6ae4babd84e6cf379982e4baf8345da77968d80b5",
    "dev": "69ba2dbe45ee6e99f1f058df58fc944f3c3f22dc82764c831306fb5dede9a8b5",
    "test": "988d3a8b4fbbe8f30decf4832db366d09a89bcc3aaf3e8344ffd4eb157379ad1",
    "labelled": "c87a59f18a7f33efa93e03fccef0cc88634f0288cbb3916d2d573b550771969c",
}


@pytest.fixture(scope="module")
def default_corpus() -> list[str]:
    return builtin.corpus()


def test_golden_fingerprints(default_corpus):
    found = {
        "corpus": fingerprint_of(default_corpus),
        "dev": builtin.graded_pairs("dev").fingerprint,
        "test": builtin.graded_pairs("test").fingerprint,
        "labelled": fingerprint_of(
            [text for split in ("train", "test") for (text,) in builtin.opinions(split).texts]
        ),
    }
    assert found == GOLDEN


def test_the_corpus_is_varied_and_seeded_and_shows_every_word(default_corpus):
    sentences = builtin.corpus(seed=5, num_sentences=2000)
    assert len(set(sentences)) == 2000
    assert sentences[:500] == builtin.corpus(seed=5, num_sentences=500)
    assert len(set(sentences) & set(builtin.corpus(seed=6, num_sentences=2000))) < 200
    words = Counter(word for text in sentences for word in text.split())
    assert len(words) > 400
    shown = {word for text in default_corpus for word in text.split()}
    assert {word for concept in _concepts() for entry in concept for word in re.split("[ /]", entry)} <= shown
    concepts = Counter(word for concept in _concepts() for word in concept)
    assert [word for word, count in concepts.items() if count > 1] == []


@pytest.mark.parametrize("split", ["dev", "test"])
def test_token_overlap_is_a_poor_guide_but_meaning_is_a_good_one(split):
    pairs = builtin.graded_pairs(split)
    assert len(pairs) >= 300
    assert 0 <= pairs.gold.min() < 0.5
    assert pairs.gold.max() == 5
    assert abs(Similarity(pairs).score_overlap("")[0].value) < 60
    assert evaluate_sts(_bag_of_concepts, [pairs])[0].value > 75


def test_labelled_sentences_are_balanced_and_disjoint_and_so_are_pairs():
    train, test = builtin.opinions("train"), builtin.opinions("test")
    assert (len(train), len(test)) == (800, 400)
    assert not set(train.texts) & set(test.texts)
    for part in (train, test):
        assert part.labels.dtype == np.int64
        assert 0.4 < part.labels.mean() < 0.6
    dev, test = builtin.graded_pairs("dev"), builtin.graded_pairs("test")
    assert not {*dev.first, *dev.second} & {*test.first, *test.second}


def _concepts():
    words = vocabulary()
    yield from (*words.people, *words.qualities, *words.times, *words.opinions[0], *words.opinions[1])
    for topic in words.topics:
        yield from (*topic.agents, *topic.things, *topic.places, *[verbs for verbs, _ in topic.actions])


def _bag_of_concepts(sentences: list[str]) -> np.ndarray:
    """An encoder that knows synonyms but neither order nor negation: counts of content concepts."""
    first = {word: concept[0] for concept in _concepts() for entry in concept for word in entry.split("/")}
    phrases = sorted((entry for entry in first if " " in entry), key=len, reverse=True)
    names = sorted(set(first.values()))
    counts = np.zeros((len(sentences), len(names)))
    for row, sentence in enumerate(sentences):
        found = [phrase for phrase in phrases if phrase in sentence]
        for word in [*found, *sentence.split()]:
            if word in first:
                counts[row, names.index(first[word])] += 1
    return counts


# How a vocabulary marks words.


@cases(
    ("tokens", "is_marked"),
    [
        (["[PAD]", "the", "##re", "##s", "\u2581"], False),  # WordPiece has what others mark words by
        (["<s>", "\u0120the", "\u0120a", "re", "##"], True),
        (["<s>", "\u2581the", "\u2581a", "re"], True),
        (["[PAD]", "the", "a"], False),  # whole words
    ],
)
def test_a_vocabulary_shows_how_it_marks_words(tokens, is_marked):
    assert marks_beginnings(tokens) == is_marked


def test_two_environment_variables_say_where_things_lie(monkeypatch):
    monkeypatch.setenv("RSE_STUDY_CACHE", "/some/cache")
    monkeypatch.delenv("RSE_STUDY_DATA", raising=False)
    assert (cache_dir(), data_dir()) == (Path("/some/cache"), Path("/some/cache/data"))
    monkeypatch.setenv("RSE_STUDY_DATA", "/some/data")
    assert data_dir() == Path("/some/data")
    monkeypatch.delenv("RSE_STUDY_CACHE")
    assert cache_dir() == Path.home() / ".cache" / "rse_study"


# Twins of a batch: which words are replaced, by what, and that nothing else decides it.


LONG = [[CLS, *range(5, 13), SEP], [CLS, 20, SEP], [CLS, SEP]]


def test_a_share_of_the_words_at_least_one_becomes_a_synonym():
    batch, synonyms = make_batch(LONG, range(3)), make_synonyms()
    twin = with_synonyms(batch, synonyms, Streams(0), 4, 0.25)
    changed = twin != batch.ids
    assert changed.sum(1).tolist() == [2, 1, 0]
    for row, place in changed.nonzero().tolist():
        assert int(twin[row, place]) in synonyms.of(int(batch.ids[row, place])).tolist()


def test_part_of_a_longer_word_stays_and_the_first_token_begins_a_word():
    """Token 13 continues the word that 12 begins."""
    batch, synonyms = make_batch([[CLS, 12, 13, SEP]], range(1)), make_synonyms()
    assert not synonyms.replaceable(batch.ids[0], batch.perturbable[0]).any()
    assert synonyms.num_words(batch.ids[0], batch.perturbable[0]) == 1
    assert torch.equal(with_synonyms(batch, synonyms, Streams(0), 0, 1.0), batch.ids)
    batch, synonyms = make_batch([[CLS, 13, 20, SEP]], range(1)), make_synonyms()
    assert synonyms.replaceable(batch.ids[0], batch.perturbable[0]).tolist() == [False, True, True, False]


def test_a_row_is_the_same_in_any_batch():
    synonyms = make_synonyms()
    whole = with_synonyms(make_batch(LONG, (7, 1, 2), num_rows=8), synonyms, Streams(0), 4, 0.5)
    padded = make_batch(LONG[:1], (7,), num_rows=8, extra_padding=3)
    alone = with_synonyms(padded, synonyms, Streams(0), 4, 0.5)
    assert torch.equal(alone[0, : whole.shape[1]], whole[0])
    other = with_synonyms(make_batch(LONG[:1], (7,), num_rows=8), synonyms, Streams(1), 4, 0.5)
    assert not torch.equal(other[0], whole[0])


def test_it_comes_back_from_its_file(tmp_path):
    made = make_synonyms()
    made.save(tmp_path)
    found = Synonyms.open(tmp_path)
    assert found.fingerprint == made.fingerprint
    for name in ("starts", "words", "offsets", "choices"):
        assert torch.equal(getattr(found, name), getattr(made, name))


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
