"""Names of the hub, without a network: what lies in its cache is loaded, and its commit is its fingerprint."""

import shutil

import pytest
from transformers import BertForMaskedLM

from rse_study.assets import prepare
from rse_study.assets.store import fingerprint_of_model
from rse_study.errors import InputError
from rse_study.models.loading import load_encoder, untrained
from rse_study.training.loop import train
from rse_study.training.trial import Trial

NAME = "somebody/small-bert"
LONGER = 1.25
COMMITS = {"main": "a" * 40, "later": "b" * 40}


@pytest.fixture(autouse=True)
def hub(small, tmp_path, monkeypatch):
    """Two commits in the hub's layout; the word embeddings of the later one are a little longer."""
    repository = tmp_path / "hub" / f"models--{NAME.replace('/', '--')}"
    for reference, commit in COMMITS.items():
        shutil.copytree(small, repository / "snapshots" / commit)
        (repository / "refs").mkdir(exist_ok=True)
        (repository / "refs" / reference).write_text(commit)
    later = repository / "snapshots" / COMMITS["later"]
    model = BertForMaskedLM.from_pretrained(later)
    model.bert.embeddings.word_embeddings.weight.data.mul_(LONGER)
    model.save_pretrained(later)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


def first_weights(revision):
    """Something of the encoder's weights."""
    encoder, _ = load_encoder(NAME, "stored", revision)
    return encoder.backbone.get_input_embeddings().weight[7, :3].tolist()


def test_a_name_is_an_encoder_of_the_revision_asked_for_and_the_commit_its_fingerprint(small):
    encoder, tokenizer = load_encoder(NAME)
    assert encoder.pooling == "mean"
    assert len(tokenizer) == BertForMaskedLM.from_pretrained(small).config.vocab_size
    assert untrained(NAME)[0].hidden_size == 32
    assert first_weights("later") == pytest.approx([LONGER * weight for weight in first_weights("main")])
    prints = {reference: fingerprint_of_model(NAME, reference) for reference in COMMITS}
    assert prints == {reference: f"{NAME}@{commit}" for reference, commit in COMMITS.items()}
    assert prints["main"] != fingerprint_of_model(str(small))


def test_base_and_generator_of_a_run_have_the_commit(sentences, tmp_path):
    (tmp_path / "sentences.txt").write_text("\n".join(sentences))
    trial = Trial.model_validate(
        {
            "encoder": {"name": NAME, "pooling": "mean", "revision": "later"},
            "corpus": {"source": "sentences.txt"},
            "selection": {"dev": "builtin"},
            "budget": {"unit": "steps", "amount": 2},
            "batch_size": 8,
            "max_length": 12,
        }
    )
    materials = prepare(trial, tmp_path / "cache", tmp_path)
    assert materials.generator == NAME
    prints = materials.fingerprints
    assert prints["base"] == prints["generator"] == f"{NAME}@{COMMITS['later']}"
    assert list(train(trial, 0, materials, tmp_path / "run"))[-1].t == 2


@pytest.mark.parametrize(("name", "revision"), [("somebody/nothing", "main"), (NAME, "never")])
def test_what_is_not_in_the_cache_is_refused(name, revision):
    with pytest.raises(InputError, match=rf"^{name}: cannot be loaded.*fill the hub's cache first \(HF_"):
        load_encoder(name, "mean", revision)
