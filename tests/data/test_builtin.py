import re
from collections import Counter

import numpy as np
import pytest

from rse_study.data import builtin
from rse_study.data.builtin import vocabulary
from rse_study.evaluation.sts import Similarity, evaluate_sts
from rse_study.spec import fingerprint_of

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
