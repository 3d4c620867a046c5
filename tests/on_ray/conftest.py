"""A world small enough to search in seconds: random two-layer BERT, generated sentences and pairs."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from rse_study.data import builtin
from rse_study.data.tokenised import tokenise
from rse_study.study.config import Study
from rse_study.study.reading import build
from rse_study.study.validation import check_study
from rse_study.training.materials import Materials

SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


@pytest.fixture(scope="session")
def materials(tmp_path_factory) -> Materials:
    """What `prepare` would make of a tiny trial."""
    root = tmp_path_factory.mktemp("materials")
    sentences = builtin.corpus(seed=0, num_sentences=64)
    words = sorted({word for sentence in sentences for word in sentence.lower().split()})
    tokenizer = word_tokenizer(words)
    save_bert(root / "base", tokenizer)
    tokenise(sentences, tokenizer, 16, root / "corpus")
    pairs = builtin.graded_pairs("dev")
    dev = replace(
        pairs, first=pairs.first[:40], second=pairs.second[:40], gold=np.array(pairs.gold[:40]), subsets={}
    )
    return Materials(
        corpus=root / "corpus",
        base=str(root / "base"),
        dev=dev,
        generator=str(root / "base"),
        fingerprints={"corpus": "tiny", "base": "tiny"},
    )


@pytest.fixture(scope="session")
def study_content() -> dict:
    """A study of two axes over a trial of three steps."""
    return {
        "name": "little",
        "question": "Does it run?",
        "base": {
            "method": {"blend": {"pgd": {"num_steps": 1}, "fgsm": {"num_steps": 1}}},
            "encoder": {"name": "tiny", "pooling": "mean"},
            "budget": {"unit": "steps", "amount": 3},
            "batch_size": 4,
            "max_length": 16,
            "selection": {"dev": "builtin"},
            "report_every": 1,
        },
        "search": {"alpha": {"log": [1e-6, 1e-3]}, "rho": {"float": [0, 1]}},
        "num_trials": 2,
        "sampler": {"name": "tpe", "num_startup": 2},
    }


@pytest.fixture(scope="session")
def checked(study_content):
    return check_study(build(Study, study_content, where="little.yaml"), where="little.yaml")


def word_tokenizer(words: list[str]) -> PreTrainedTokenizerFast:
    vocabulary = {token: i for i, token in enumerate([*SPECIALS, *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    specials = [(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=specials)
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
