import json

import pytest
import torch
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from rse_study.assets.tiny import (
    TINY,
    TinyEncoder,
    cooccurrences,
    tiny_encoder,
    train_tokenizer,
    word_vectors,
)
from rse_study.models.loading import load_encoder

from .conftest import SMALL

COUNTED = SMALL.model_copy(update={"window": 2})


@pytest.fixture(scope="module")
def tokenizer(sentences):
    return train_tokenizer(sentences, 400, 64)


@pytest.fixture(scope="module")
def counted(sentences, tmp_path_factory):
    return tiny_encoder(tmp_path_factory.mktemp("cache"), sentences, COUNTED)


def test_counts_are_those_of_a_loop_over_pairs(sentences, tokenizer):
    texts = sentences[:40]
    by_hand = torch.zeros(len(tokenizer), len(tokenizer), dtype=torch.float64)
    for text in texts:
        tokens = tokenizer(text, add_special_tokens=False).input_ids
        for i, one in enumerate(tokens):
            for j, other in enumerate(tokens):
                if 0 < abs(i - j) <= 3:
                    by_hand[one, other] += 1 / abs(i - j)
    torch.testing.assert_close(cooccurrences(texts, tokenizer, 3), by_hand)


def test_ids_may_have_holes(sentences, tokenizer):
    content = json.loads(tokenizer.backend_tokenizer.to_str())
    content["model"]["vocab"][max(content["model"]["vocab"], key=len)] = 600
    holed = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(content)), unk_token="[UNK]"
    )
    assert cooccurrences(sentences[:40], holed, 3).shape == (601, 601)


def test_vectors_reproduce_the_logarithms_of_the_counts_and_tell_topics_apart(sentences, tokenizer):
    counts = cooccurrences(sentences, tokenizer, 2).log1p()
    vectors = word_vectors(sentences, tokenizer, len(tokenizer), 2, seed=0).double()
    is_counted = counts.sum(1) > 0
    assert vectors[~is_counted].abs().max() == 0
    assert vectors[is_counted].square().mean().item() == pytest.approx(1)
    # (U S U')^2 = C^2 for U sqrt(S), up to the common scale: C itself may have negative eigenvalues.
    ours, theirs = vectors.T @ vectors, torch.linalg.svdvals(counts)
    found = torch.linalg.eigvalsh(ours).flip(0)
    torch.testing.assert_close(found / found[0], theirs / theirs[0], atol=1e-4, rtol=1e-3)
    vectors = torch.nn.functional.normalize(word_vectors(sentences, tokenizer, 32, 2, seed=0), dim=1)
    one, alike, other = (vectors[tokenizer.convert_tokens_to_ids(word)] for word in ("baba", "bado", "doba"))
    assert float(one @ alike) > float(one @ other) + 0.3


def test_the_asset_has_them_and_its_head_guesses_masked_tokens(counted, sentences):
    encoder, own = load_encoder(counted)
    vectors = 0.1 * word_vectors(sentences, own, 32, 2, seed=0)
    is_counted = vectors.any(1)
    weight = encoder.backbone.get_input_embeddings().weight
    torch.testing.assert_close(weight[is_counted], vectors[is_counted])
    meta = json.loads((counted / "meta.json").read_text())
    assert (meta["asset"], counted.name.rpartition("-")[0]) == ("tiny-vectors", "tiny-vectors")
    assert meta["masked_accuracy"] > meta["unigram_accuracy"]


def test_the_same_corpus_and_settings_give_the_same_bits(counted, sentences, tmp_path):
    torch.manual_seed(5)
    again = tiny_encoder(tmp_path, sentences, COUNTED)
    assert again.name == counted.name
    assert (again / "model.safetensors").read_bytes() == (counted / "model.safetensors").read_bytes()


def test_settings_of_vectors_leave_the_identity_of_the_trained_encoder_alone():
    assert "window" not in TINY["tiny"].identity()
    assert TINY["tiny"] == TinyEncoder()
    assert TINY["tiny-vectors"].identity()["window"] == 2
