"""The asset `tiny`: a small BERT of our own, made from the study's corpus alone; base encoder and generator."""

import json
from pathlib import Path
from typing import Any

from pydantic import PositiveInt
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from rse_study.assets.masked_lm import MaskedLM, Told, train_and_measure
from rse_study.assets.store import META, build
from rse_study.models.loading import quiet_loading, seeded_init
from rse_study.models.stored import StoredPooling, store_pooling
from rse_study.spec import Spec, field, fingerprint_of, hash_file

SPECIAL = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}


class TinyEncoder(Spec):
    """Sizes and training of the tiny encoder (MINI_SCALE: 2 layers, d 128, 8k word pieces, mean pooling)."""

    vocabulary_size: int = field(8000, ge=100, description="at most; a small corpus gives fewer word pieces")
    hidden_size: PositiveInt = 128
    num_layers: PositiveInt = 2
    num_heads: PositiveInt = 4
    intermediate_size: PositiveInt = 512
    max_positions: PositiveInt = 128
    training: MaskedLM = MaskedLM()


def tiny_encoder(
    root: Path,
    sentences: list[str],
    spec: TinyEncoder | None = None,
    told: Told = lambda done, total, loss: None,
) -> Path:
    """Folder in Hugging Face's layout: BertForMaskedLM, tokenizer, pooling `mean`, meta.json."""
    wanted = spec or TinyEncoder()
    key = {"spec": wanted.identity(), "sentences": fingerprint_of(sentences)}
    return build(root, "tiny", key, lambda draft: _make(draft, sentences, wanted, told))


def train_tokenizer(sentences: list[str], vocabulary_size: int, max_positions: int) -> Any:
    """Lower-casing WordPiece of at most so many pieces, as BERT's."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = list(SPECIAL.values())
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary_size, special_tokens=special, show_progress=False, limit_alphabet=200
    )
    tokenizer.train_from_iterator(sentences, trainer)
    ends = [(token, special.index(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=max_positions, **SPECIAL)


def random_model(spec: TinyEncoder, vocabulary_size: int) -> Any:
    """The untrained model, weights from the stream init of the training's seed."""
    config = BertConfig(
        vocab_size=vocabulary_size,
        hidden_size=spec.hidden_size,
        num_hidden_layers=spec.num_layers,
        num_attention_heads=spec.num_heads,
        intermediate_size=spec.intermediate_size,
        max_position_embeddings=spec.max_positions,
    )
    with seeded_init(spec.training.seed):
        return BertForMaskedLM(config).float()


def _make(draft: Path, sentences: list[str], spec: TinyEncoder, told: Told) -> None:
    tokenizer = train_tokenizer(sentences, spec.vocabulary_size, spec.max_positions)
    model = random_model(spec, len(tokenizer))
    measured = train_and_measure(model, tokenizer, sentences, spec.training, told)
    with quiet_loading():
        model.save_pretrained(draft)
    tokenizer.save_pretrained(draft)
    store_pooling(draft, StoredPooling(pooling="mean"))
    write_meta(draft, {"asset": "tiny", "spec": spec.identity(), "vocabulary": len(tokenizer), **measured})


def write_meta(draft: Path, content: dict[str, Any]) -> None:
    """meta.json with the hash of the weights: the last file of a masked-LM asset."""
    content = {**content, "weights": hash_file(draft / "model.safetensors")}
    (draft / META).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
