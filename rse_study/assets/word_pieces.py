"""A WordPiece tokenizer trained on a corpus, deterministically."""

from collections import Counter
from typing import Any

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

SPECIAL = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
ALPHABET_SIZE = 200


def train_tokenizer(sentences: list[str], vocabulary_size: int, max_positions: int) -> Any:
    """Train a lower-casing WordPiece tokenizer with BERT's frame [CLS] ... [SEP]."""
    special = list(SPECIAL.values())
    tokenizer = _frame(models.WordPiece(_train(sentences, vocabulary_size), unk_token="[UNK]"))
    ends = [(token, special.index(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=max_positions, **SPECIAL)


def _train(sentences: list[str], vocabulary_size: int) -> dict[str, int]:
    draft = _frame(models.WordPiece(unk_token="[UNK]"))
    alphabet = _alphabet(draft, sentences)
    # The trainer numbers "##x" in the random order of a hash map and breaks ties by number, so no two runs agree.
    # Passing them as special tokens fixes their numbers, and hence everything after them.
    inner = [f"##{character}" for character in alphabet]
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary_size,
        special_tokens=[*SPECIAL.values(), *inner],
        initial_alphabet=alphabet,
        limit_alphabet=len(alphabet),
        show_progress=False,
    )
    draft.train_from_iterator(sentences, trainer)
    return draft.get_vocab()


def _frame(model: Any) -> Any:
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def _alphabet(tokenizer: Any, sentences: list[str]) -> list[str]:
    """Return the commonest characters, ordered by code point."""
    counts: Counter[str] = Counter()
    for sentence in sentences:
        counts.update(tokenizer.normalizer.normalize_str(sentence))
    commonest = sorted(counts, key=lambda c: (-counts[c], c))
    return sorted(c for c in commonest[:ALPHABET_SIZE] if not c.isspace())
