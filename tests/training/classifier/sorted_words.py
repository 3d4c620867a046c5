"""A task a very small encoder learns: which of two groups a text's words are of; pairs: which group stands first."""

import random
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from rse_study.assets.word_pieces import SPECIAL
from rse_study.data.labelled import Labelled
from rse_study.data.pairs import StsPairs
from rse_study.training.classifier.config import FineTuning
from rse_study.training.classifier.data import Start

GROUPS = (["red", "blue", "green", "brown"], ["cat", "dog", "bird", "fish"])
LEARNS = FineTuning(
    lr=5e-3, epochs=4, batch_size=8, max_length=16, weight_decay=0.01, dev_share=0.2, keep="last"
)


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
    words = [*SPECIAL.values(), *GROUPS[0], *GROUPS[1]]
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
        type_vocab_size=num_types,
        initializer_range=0.2,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    word_tokenizer(words, pairs=pairs).save_pretrained(folder)
    return Start(str(folder), "mean", f"small-{pairs}-{num_types}-{seed}")


def word_tokenizer(words: list[str], *, pairs: bool = True) -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    frames = {"single": "[CLS] $A [SEP]"} | ({"pair": "[CLS] $A [SEP] $B:1 [SEP]:1"} if pairs else {})
    ends = [(token, words.index(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(**frames, special_tokens=ends)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=32, **SPECIAL)
