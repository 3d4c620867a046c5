"""Tiny encoders: word pieces, counted word vectors, masked-LM training."""

import json
import os
import shutil
import signal

import numpy as np
import pytest
import torch

from rse_study.assets import masked_lm
from rse_study.assets.store import came_with_archive, fingerprint_of_model
from rse_study.assets.tiny import (
    TINY,
    TinyEncoder,
    cooccurrences,
    tiny_encoder,
    train_tokenizer,
    word_vectors,
)
from rse_study.errors import InputError
from rse_study.models.embedder import Embedder
from rse_study.models.generators import check_same_tokenizer, load_generator
from rse_study.models.loading import load_encoder, load_tokenizer, untrained
from rse_study.spec import hash_file

from .conftest import SMALL


def test_it_is_base_encoder_and_generator_in_one_folder_and_meta_says_how_good(small):
    encoder, tokenizer = load_encoder(small)
    generator = load_generator(small)
    check_same_tokenizer(generator.tokenizer, tokenizer)
    assert encoder.pooling == "mean"
    assert encoder.hidden_size == 32
    vectors = Embedder(encoder, tokenizer)(["a sentence", ""])
    assert np.isfinite(vectors).all()
    random, _ = untrained(small)
    assert sum(p.numel() for p in random.parameters()) == sum(p.numel() for p in encoder.parameters())
    meta = json.loads((small / "meta.json").read_text())
    assert meta["masked_accuracy"] > max(0.1, meta["unigram_accuracy"])
    assert meta["num_sentences"] == 570
    assert meta["num_held_out"] == 30
    assert meta["weights"] == hash_file(small / "model.safetensors")


def test_the_same_corpus_and_spec_give_the_same_bits_also_where_ctrl_c_came_between(
    small, sentences, tmp_path
):
    torch.manual_seed(5)
    steps = []

    def ctrl_c(done, total, loss):
        steps.append(done)
        if done == 20:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        tiny_encoder(tmp_path, sentences, SMALL, ctrl_c)
    again = tiny_encoder(tmp_path, sentences, SMALL, lambda done, total, loss: steps.append(done))
    assert steps == list(range(1, 61))
    assert again.name == small.name
    assert not list(tmp_path.glob(".*.steps"))
    for file in ("model.safetensors", "tokenizer.json", "config.json"):
        assert (again / file).read_bytes() == (small / file).read_bytes()


def test_weights_that_came_with_an_archive_are_taken_and_nothing_is_trained(
    small, sentences, tmp_path, monkeypatch
):
    monkeypatch.setattr(masked_lm, "train_masked_lm", None)
    came = came_with_archive(tmp_path, small.name)
    came.parent.mkdir()
    shutil.copy(small / "model.safetensors", came)
    made = tiny_encoder(tmp_path, sentences, SMALL)
    assert fingerprint_of_model(str(made)) == fingerprint_of_model(str(small))
    before, now = (json.loads((one / "meta.json").read_text()) for one in (small, made))
    assert now["masked_accuracy"] == before["masked_accuracy"]


def test_weights_that_came_damaged_are_named(small, sentences, tmp_path):
    came = came_with_archive(tmp_path, small.name)
    came.parent.mkdir()
    came.write_bytes(b"others")
    with pytest.raises(InputError, match=f"{small.name}.*weights are damaged"):
        tiny_encoder(tmp_path, sentences, SMALL)


def test_tokenizer_is_lower_case_word_pieces_with_berts_frame_and_few_for_a_small_corpus(small):
    tokenizer = load_tokenizer(str(small))
    first, again = tokenizer("The OLD friend"), tokenizer("the old friend")
    assert first.input_ids == again.input_ids
    tokens = tokenizer.convert_ids_to_tokens(first.input_ids)
    assert (tokens[0], tokens[-1]) == ("[CLS]", "[SEP]")
    assert tokenizer.pad_token_id == 0
    assert len(tokenizer) <= SMALL.vocabulary_size
    tokenizer = train_tokenizer(["one two", "two three"] * 3, 8000, 64)
    assert 5 < len(tokenizer) < 40


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


def test_settings_of_vectors_leave_the_identity_of_the_trained_encoder_alone():
    assert "window" not in TINY["tiny"].identity()
    assert TINY["tiny"] == TinyEncoder()
    assert TINY["tiny-vectors"].identity()["window"] == 2
