"""A task a very small encoder learns: which of two groups a text's words are of; pairs: which group stands first."""

import random
from functools import partial
from pathlib import Path

import numpy as np
from transformers import BertModel

from rse_study.data.labelled import Labelled, StsPairs
from rse_study.training.classifier import FineTuning
from rse_study.training.classifier.data import Start
from tests.tiny_models import PUNCTUATION, save_bert, word_tokenizer

GROUPS = (["red", "blue", "green", "brown"], ["cat", "dog", "bird", "fish"])
SMALL = dict(lr=5e-3, epochs=4, batch_size=8, max_length=16, dev_share=0.2)
LEARNS = FineTuning(**SMALL, weight_decay=0.01, keep="last")


def words_of(group: int, rng: random.Random) -> str:
    return " ".join(rng.choices(GROUPS[group], k=rng.randint(1, 6)))


def singles(num: int = 80, seed: int = 0, name: str = "groups") -> Labelled:
    rng = random.Random(seed)
    labels = [i % 2 for i in range(num)]
    return Labelled(name, "train", [(words_of(i, rng),) for i in labels], np.array(labels), ("hue", "pet"))


def ordered_pairs(num: int = 80, seed: int = 0) -> Labelled:
    """Class `first` where the colours come first: only the order tells."""
    rng = random.Random(seed)
    labels = [i % 2 for i in range(num)]
    texts = [(words_of(i, rng), words_of(1 - i, rng)) for i in labels]
    return Labelled("order", "train", texts, np.array(labels), ("first", "second"))


def graded_pairs(num: int = 80, seed: int = 0) -> StsPairs:
    """Gold 0, 2.5 or 5: how many of the two texts are about pets."""
    rng = random.Random(seed)
    groups = [(rng.randint(0, 1), rng.randint(0, 1)) for _ in range(num)]
    first, second = ([words_of(pair[side], rng) for pair in groups] for side in (0, 1))
    return StsPairs("pets", "train", first, second, np.array([2.5 * sum(pair) for pair in groups]))


def small_base(folder: Path, *, pairs: bool = True, num_types: int = 2, seed: int = 0) -> Start:
    """A random BERT of two layers over whole words, saved in `folder`."""
    settings = {"intermediate_size": 32, "max_position_embeddings": 32, "initializer_range": 0.2}
    how = {"split": PUNCTUATION, "lower": False, "pairs": pairs, "max_length": 32}
    tokenizer, kind = (
        word_tokenizer([*GROUPS[0], *GROUPS[1]], **how),
        partial(BertModel, add_pooling_layer=False),
    )
    save_bert(folder, tokenizer, kind, seed=seed, type_vocab_size=num_types, **settings)
    return Start(str(folder), "mean", f"small-{pairs}-{num_types}-{seed}")
