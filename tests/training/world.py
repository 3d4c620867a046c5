"""A complete small world: generated sentences, a word tokenizer, a random BERT that is base and generator."""

from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from rse_study.assets.word_pieces import SPECIAL
from rse_study.data import builtin
from rse_study.data.synonyms import Synonyms
from rse_study.data.tokenised import tokenise
from rse_study.training.loop import Report
from rse_study.training.materials import Materials
from rse_study.training.trial import Trial


@dataclass(frozen=True)
class World:
    root: Path
    sentences: list[str]

    def materials(self, *, dropout: float = 0.1) -> Materials:
        """Folders for a run, made once per dropout rate."""
        base = self.root / f"base-{dropout}"
        tokenizer = _word_tokenizer(self.sentences)
        if not base.exists():
            _random_bert(len(tokenizer), dropout).save_pretrained(base)
            tokenizer.save_pretrained(base)
            tokenise(self.sentences, tokenizer, 16, self.root / "corpus")
        dev = builtin.graded_pairs("dev")
        return Materials(
            corpus=self.root / "corpus",
            base=str(base),
            dev=dev,
            generator=str(base),
            synonyms=str(_synonyms(self.root / "synonyms", len(tokenizer))),
            fingerprints={"corpus": "generated", "base": f"{dropout}"},
        )


def _synonyms(folder: Path, vocabulary: int) -> Path:
    """Every token may become the next one."""
    if not folder.exists():
        folder.mkdir()
        following = torch.arange(1, vocabulary + 1) % vocabulary
        every = torch.ones(vocabulary, dtype=torch.bool)
        Synonyms(every, every, torch.arange(vocabulary + 1), following).save(folder)
    return folder


def small_trial(**changes: object) -> Trial:
    """Everything on: two branches, eta, masks, RTD; 12 steps, an epoch being 7."""
    settings: dict = {
        "method": {
            "blend": {"pgd": {"num_steps": 2}, "fgsm": {"num_steps": 2}},
            "masks": {"phi": 0.1, "num_layers": 1},
        },
        "encoder": {"name": "small", "pooling": "mean"},
        "budget": {"unit": "steps", "amount": 12},
        "batch_size": 16,
        "max_length": 16,
        "optimizer": {"lr": 1e-3},
        "selection": {"dev": "builtin", "every": 5},
        "report_every": 2,
    }
    return Trial.model_validate({**settings, **changes})


def stop_at(t: int) -> Report:
    """Whoever is asked says "stop" at step `t`."""
    return lambda progress: "stop" if progress.t == t else None


def _random_bert(vocabulary: int, dropout: float) -> BertForMaskedLM:
    config = BertConfig(
        vocab_size=vocabulary,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return BertForMaskedLM(config)


def _word_tokenizer(sentences: list[str]) -> PreTrainedTokenizerFast:
    splitter, lower = pre_tokenizers.Whitespace(), normalizers.Lowercase()
    words = {word for s in sentences for word, _ in splitter.pre_tokenize_str(lower.normalize_str(s))}
    vocabulary = {token: i for i, token in enumerate([*SPECIAL.values(), *sorted(words)])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = lower, splitter
    ends = [(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **SPECIAL)
