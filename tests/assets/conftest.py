import random

import pytest

from rse_study.assets.masked_lm import MaskedLMTraining
from rse_study.assets.tiny import TinyEncoder, tiny_encoder

SIZES = dict(vocabulary_size=400, hidden_size=32, num_heads=2, intermediate_size=64, initializer_range=0.1)
TRAINING = MaskedLMTraining(num_steps=60, max_epochs=20, batch_size=32, lr=1e-2)
SMALL = TinyEncoder(**SIZES, training=TRAINING)
SYLLABLES = ["ba", "do", "fe", "gi", "ku", "la", "mo", "ne", "pi", "ru"]


def topical(syllables=SYLLABLES, num=600):
    """Distinct sentences of ten topics with two words each: the other words tell which topic is meant."""
    rng = random.Random(0)
    topics = [[first + second for second in syllables[:2]] for first in syllables]
    found: dict[str, None] = {}
    while len(found) < num:
        found[" ".join(rng.choices(rng.choice(topics), k=rng.randint(4, 9)))] = None
    return list(found)


@pytest.fixture(scope="session")
def sentences():
    return topical()


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A folder of assets, one for each module."""
    return tmp_path_factory.mktemp("assets")


@pytest.fixture(scope="session")
def small(sentences, tmp_path_factory):
    """A very small `tiny` asset."""
    return tiny_encoder(tmp_path_factory.mktemp("cache"), sentences, SMALL)
