"""Encoders to measure: several sizes with random weights, and MiniLM if installed."""

from dataclasses import dataclass
from pathlib import Path

from transformers import BertConfig, BertForMaskedLM

from benchmarks.sentences import training_texts
from rse_study.assets.tiny import has_minilm, minilm_folder, train_tokenizer, with_masked_lm_head
from rse_study.models.loading import load_tokenizer, quiet_loading, seeded_init

MINILM = "minilm"
VOCABULARY_SIZE = 8000  # word pieces of encoders with random weights, as in the asset `tiny`
NUM_POSITIONS = 512
HEAD_WIDTH = {24: 12, 128: 64, 256: 64, 384: 32, 768: 64}
"""width of an attention head by the encoder's width; 384 is MiniLM's"""


@dataclass(frozen=True)
class EncoderSize:
    """Layers and width of a BERT."""

    num_layers: int
    width: int


BERT_BASE, MINILM_SHAPE = "12x768", "6x384"
NARROW = "12x24"
"""BERT-base's operations, too small to learn or to measure seconds"""
SHAPES = ((2, 128), (4, 256), (6, 384), (12, 24), (12, 768))
SIZES = {f"{layers}x{width}": EncoderSize(layers, width) for layers, width in SHAPES}
"""encoders with random weights by name: layers times width"""


def encoder_names() -> list[str]:
    """Return the available encoders that a CPU can measure in minutes."""
    return [*(name for name in SIZES if name not in (NARROW, BERT_BASE)), *([MINILM] if has_minilm() else [])]


def save_encoder(name: str, folder: Path, seed: int = 0) -> Path:
    """Write an encoder, with a masked-LM head and a tokenizer, into a new folder.

    MiniLM's masked-LM head is random and untrained, which costs the same.
    """
    if name == MINILM:
        tokenizer, model = load_tokenizer(str(minilm_folder())), with_masked_lm_head(minilm_folder(), seed)
    else:
        tokenizer = train_tokenizer(training_texts().sentences, VOCABULARY_SIZE, NUM_POSITIONS)
        model = random_masked_lm(SIZES[name], len(tokenizer), seed)
    with quiet_loading():
        model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def random_masked_lm(size: EncoderSize, num_tokens: int, seed: int) -> BertForMaskedLM:
    """Return a BERT with its random initial weights."""
    config = BertConfig(
        vocab_size=num_tokens,
        hidden_size=size.width,
        num_hidden_layers=size.num_layers,
        num_attention_heads=size.width // HEAD_WIDTH[size.width],
        intermediate_size=4 * size.width,
        max_position_embeddings=NUM_POSITIONS,
    )
    with seeded_init(seed):
        return BertForMaskedLM(config).float()
