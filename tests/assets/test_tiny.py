import json
import shutil

import numpy as np
import pytest
import torch

from rse_study.assets import tiny
from rse_study.assets.fingerprint import fingerprint_of_model
from rse_study.assets.tiny import tiny_encoder, train_tokenizer
from rse_study.errors import InputError
from rse_study.models.embedder import Embedder
from rse_study.models.generators import check_same_tokenizer, load_generator
from rse_study.models.loading import load_encoder, load_tokenizer, untrained
from rse_study.results.archive import FILES_OF_WEIGHTS
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


def test_the_same_corpus_and_spec_give_the_same_bits(small, sentences, tmp_path):
    torch.manual_seed(5)
    again = tiny_encoder(tmp_path, sentences, SMALL)
    assert again.name == small.name
    for file in ("model.safetensors", "tokenizer.json", "config.json"):
        assert (again / file).read_bytes() == (small / file).read_bytes()


@pytest.fixture
def shipped(small, tmp_path):
    """The weights of `small` as an archive has them, without its tokenizer, and of another training."""
    folder = tmp_path / "shipped" / small.name
    folder.mkdir(parents=True)
    for name in FILES_OF_WEIGHTS:
        shutil.copy(small / name, folder)
    return folder


def test_weights_that_came_with_an_archive_are_taken_and_nothing_is_trained(
    small, shipped, sentences, tmp_path, monkeypatch
):
    monkeypatch.setattr(tiny, "train_and_measure", None)
    config = shipped / "config.json"
    version = json.loads(config.read_text())["transformers_version"]
    config.write_text(config.read_text().replace(version, "4.0"))  # of another machine
    made = tiny_encoder(tmp_path / "cache", sentences, SMALL, shipped=shipped.parent)
    assert hash_file(made / "model.safetensors") == hash_file(small / "model.safetensors")
    assert json.loads((made / "meta.json").read_text()) == json.loads((small / "meta.json").read_text())
    (made / "config.json").write_text((made / "config.json").read_text().replace("4.0", version))
    assert fingerprint_of_model(str(made)) == fingerprint_of_model(str(small))
    assert made.name != small.name  # one that is trained here has its own place


def test_weights_that_are_not_those_that_were_packed_are_refused(shipped, sentences, tmp_path):
    (shipped / "model.safetensors").write_bytes(b"others")
    with pytest.raises(InputError, match="weights are damaged"):
        tiny_encoder(tmp_path / "cache", sentences, SMALL, shipped=shipped.parent)


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
