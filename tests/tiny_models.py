"""Models small enough for a test: a tokenizer of whole words, a BERT of two layers with random weights.

One home for all of them. Two layers, two heads, 16 wide: what a test needs otherwise, it says.
"""

from collections.abc import Callable, Collection, Iterable
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertForMaskedLM, PreTrainedModel, PreTrainedTokenizerFast

Kind = Callable[[BertConfig], PreTrainedModel]
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROLES = ("pad", "unk", "cls", "sep", "mask")
SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
NUM_POSITIONS = 64
PUNCTUATION, SPACES = pre_tokenizers.Whitespace(), pre_tokenizers.WhitespaceSplit()


def words_of(sentences: Iterable[str]) -> list[str]:
    """The distinct words of sentences, in alphabetical order and lower case."""
    return sorted({word for sentence in sentences for word in sentence.lower().split()})


def word_tokenizer(
    words: Iterable[str],
    *,
    specials: Collection[str] = SPECIALS,
    split: pre_tokenizers.PreTokenizer = SPACES,
    lower: bool = True,
    pairs: bool = True,
    max_length: int | None = NUM_POSITIONS,
) -> PreTrainedTokenizerFast:
    """One token a word, after the special ones: pad, unk, cls, sep, mask are `ROLES[i]` of `specials[i]`."""
    vocabulary = {token: i for i, token in enumerate([*specials, *words])}
    names = dict(zip(ROLES, specials, strict=True))
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=names["unk"]))
    tokenizer.pre_tokenizer = split
    if lower:
        tokenizer.normalizer = normalizers.Lowercase()
    cls, sep = names["cls"], names["sep"]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{cls} $A {sep}",
        **({"pair": f"{cls} $A {sep} $B:1 {sep}:1"} if pairs else {}),
        special_tokens=[(token, vocabulary[token]) for token in (cls, sep)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        **({"model_max_length": max_length} if max_length else {}),
        **{f"{role}_token": token for role, token in names.items()},
    )


def random_bert(
    num_tokens: int, kind: Kind = BertForMaskedLM, *, seed: int = 0, **settings: object
) -> PreTrainedModel:
    """A BERT with the weights it is initialised with; the global generator is left as it was."""
    sizes = SIZES | {"max_position_embeddings": NUM_POSITIONS} | settings
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return kind(BertConfig(vocab_size=num_tokens, **sizes))


def save_bert(
    folder: Path, tokenizer: PreTrainedTokenizerFast, kind: Kind = BertForMaskedLM, **settings: object
) -> Path:
    """A random BERT of a tokenizer's words, both in the hub's layout."""
    random_bert(len(tokenizer), kind, **settings).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
