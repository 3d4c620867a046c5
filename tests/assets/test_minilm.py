import json

import pytest
import torch

from rse_study.assets import tiny
from rse_study.assets.masked_lm import MaskedLMTraining
from rse_study.assets.replayed import Reference
from rse_study.assets.tiny import MiniLMGenerator, minilm_folder, minilm_generator
from rse_study.errors import InputError
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.export import save_encoder
from rse_study.models.generators import load_generator
from rse_study.models.loading import load_encoder
from rse_study.training.trial import Encoder, Replayed
from tests import needs

SPEC = MiniLMGenerator(training=MaskedLMTraining(num_steps=3, batch_size=8, max_length=16))


@pytest.fixture
def headless(small, tmp_path):
    """An encoder without a masked-LM head, as MiniLM comes."""
    encoder, tokenizer = load_encoder(small)
    assert isinstance(encoder, SentenceEncoder)
    save_encoder(tmp_path / "headless", encoder, tokenizer)
    return tmp_path / "headless"


def test_head_is_tied_to_the_word_embeddings_and_tuned_alone_leaves_the_body(headless, sentences, tmp_path):
    with pytest.raises(InputError, match="no masked-LM head"):
        load_generator(headless)
    folder = minilm_generator(tmp_path, sentences, SPEC, base=headless)
    model = load_generator(folder).model
    assert model.cls.predictions.decoder.weight is model.bert.embeddings.word_embeddings.weight
    meta = json.loads((folder / "meta.json").read_text())
    assert {"masked_accuracy", "unigram_accuracy", "seconds", "weights"} <= set(meta)
    folder = minilm_generator(tmp_path, sentences, SPEC.model_copy(update={"tuned": "head"}), base=headless)
    before, after = load_encoder(headless)[0].state_dict(), load_encoder(folder, "mean")[0].state_dict()
    assert all(torch.equal(before[key], after[key]) for key in before)


def test_without_the_extra_the_remedy_is_named(monkeypatch):
    monkeypatch.setattr(tiny, "PACKAGE", "no_such_package_at_all")
    with pytest.raises(InputError, match=r"rse-study\[minilm\]"):
        minilm_folder()


def test_installed_package_is_found_and_as_a_reference_goes_by_its_word():
    needs.minilm()
    encoder, tokenizer = load_encoder(minilm_folder())
    assert (encoder.pooling, encoder.hidden_size, tokenizer.model_max_length) == ("mean", 384, 256)
    needs.minilm()
    encoder = Encoder(name="small", pooling="mean")
    by_word = Reference.of(Replayed(recipe="pwws", reference="minilm"), "base", encoder)
    by_folder = Reference.of(Replayed(recipe="pwws", reference=str(minilm_folder())), "base", encoder)
    assert by_word.key() == by_folder.key()
