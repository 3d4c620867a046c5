"""A world small enough to run a study in seconds: random two-layer BERT, generated sentences and pairs.

No conftest: processes that tests start and kill make the same world from here.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from rse_study.data import builtin
from rse_study.data.pairs import StsPairs
from rse_study.data.tokenised import tokenise
from rse_study.evaluation.sts import Similarity
from rse_study.training.materials import Materials

SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
NUM_PAIRS = 40
STUDY = {
    "name": "little",
    "question": "Does it run?",
    "base": {
        "method": {"blend": {"pgd": {"num_steps": 1}, "fgsm": {"num_steps": 1}}},
        "encoder": {"name": "tiny", "pooling": "mean"},
        "budget": {"unit": "steps", "amount": 3},
        "batch_size": 4,
        "max_length": 16,
        "selection": {"dev": "builtin", "every": 1},
        "report_every": 1,
    },
    "search": {"alpha": {"log": [1e-6, 1e-3]}, "rho": {"float": [0, 1]}},
    "num_trials": 2,
    "sampler": {"name": "tpe", "num_startup": 2},
}
"""Two axes over a trial of three steps."""


def make_materials(root: Path) -> Materials:
    """What `prepare` would make of a tiny trial."""
    sentences = builtin.corpus(seed=0, num_sentences=64)
    words = sorted({word for sentence in sentences for word in sentence.lower().split()})
    tokenizer = word_tokenizer(words)
    save_bert(root / "base", tokenizer)
    tokenise(sentences, tokenizer, 16, root / "corpus")
    return find_materials(root)


def find_materials(root: Path) -> Materials:
    """The materials that `make_materials` made there."""
    return Materials(
        corpus=root / "corpus",
        base=str(root / "base"),
        dev=few_pairs("builtin/dev"),
        generator=str(root / "base"),
        fingerprints={"corpus": "tiny", "base": "tiny"},
    )


def few(name: str) -> Similarity:
    """The evaluation of this name, on a few pairs."""
    return Similarity(few_pairs(name))


def few_pairs(evaluation: str) -> StsPairs:
    """The first pairs of `builtin/dev` or `builtin/test`."""
    pairs = builtin.graded_pairs("dev" if evaluation.endswith("dev") else "test")
    first, second, gold = pairs.first[:NUM_PAIRS], pairs.second[:NUM_PAIRS], np.array(pairs.gold[:NUM_PAIRS])
    return replace(pairs, first=first, second=second, gold=gold, subsets={})


def word_tokenizer(words: list[str]) -> PreTrainedTokenizerFast:
    vocabulary = {token: i for i, token in enumerate([*SPECIALS, *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    specials = [(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=specials
    )
    names = dict(zip(("pad", "unk", "cls", "sep", "mask"), SPECIALS, strict=True))
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=64,
        **{f"{name}_token": token for name, token in names.items()},
    )


def save_bert(folder: Path, tokenizer: PreTrainedTokenizerFast) -> None:
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = BertConfig(vocab_size=len(tokenizer), max_position_embeddings=64, **sizes)
        BertForMaskedLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
