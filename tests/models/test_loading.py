import json
import shutil

import numpy as np
import pytest
import torch
import transformers as hf
from sentence_transformers import SentenceTransformer
from transformers import AutoModel, AutoTokenizer

from rse_study.errors import InputError
from rse_study.methods.is_bert import ISBERT
from rse_study.models.embedder import Embedder
from rse_study.models.export import export, save_encoder
from rse_study.models.loading import load_encoder, untrained
from rse_study.streams import Streams
from rse_study.tensors import Alone
from tests.cases import cases

from .conftest import SENTENCES, WORDS, word_tokenizer


def tiny_models():
    vocab = dict(vocab_size=30)
    small = dict(d_model=8, d_ff=8, **vocab)
    sizes = dict(layers=1, attention_heads=2, ffn_dim=8)
    halves = {f"{half}_{name}": size for half in ("encoder", "decoder") for name, size in sizes.items()}
    layers = dict(num_hidden_layers=1, num_attention_heads=2, hidden_size=8, intermediate_size=8)
    return {
        "gpt2": (hf.GPT2Model(hf.GPT2Config(n_embd=8, n_layer=1, n_head=2, **vocab)), "decoder-only"),
        "llama": (hf.LlamaModel(hf.LlamaConfig(**layers, **vocab)), "decoder-only"),
        "t5": (hf.T5EncoderModel(hf.T5Config(d_kv=4, num_layers=1, num_heads=2, **small)), "encoder-decoder"),
        "bart": (hf.BartModel(hf.BartConfig(**halves, d_model=8, **vocab)), "encoder-decoder"),
        "fnet": (hf.FNetModel(hf.FNetConfig(**layers, **vocab)), "no `attention_mask`"),
    }


@pytest.mark.parametrize("family", ["gpt2", "llama", "t5", "bart", "fnet"])
def test_unsuitable_families_are_refused_by_name(tmp_path, family):
    model, reason = tiny_models()[family]
    model.save_pretrained(tmp_path)
    word_tokenizer().save_pretrained(tmp_path)
    with pytest.raises(InputError, match=reason) as caught:
        load_encoder(tmp_path, "cls")
    assert family in str(caught.value)
    assert "bert-base-uncased" in caught.value.remedy


def reconfigured(folder, **changes):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **changes}))


def without_padding(folder):
    tokenizer = word_tokenizer()
    tokenizer.pad_token = None
    tokenizer.save_pretrained(folder)


def of_another_model(folder):
    word_tokenizer(words=[f"w{i}" for i in range(99)]).save_pretrained(folder)


UNSUITABLE = {
    "perceiver takes no `inputs_embeds`": lambda folder: hf.PerceiverConfig().save_pretrained(folder),
    "bert is decoder-only": lambda folder: reconfigured(folder, is_decoder=True),
    r"weights are missing, the first is 'encoder\.layer\.3": lambda folder: reconfigured(
        folder, num_hidden_layers=4
    ),
    "no padding token": without_padding,
    "104 tokens, its embedding 23 rows": of_another_model,
}


@cases("said", UNSUITABLE)
def test_what_does_not_fit_is_refused(folders, tmp_path, said):
    folder = shutil.copytree(folders["bert"], tmp_path / "model")
    UNSUITABLE[said](folder)
    with pytest.raises(InputError, match=said):
        load_encoder(folder, "cls")


def test_missing_folders_files_poolings_and_unknown_names(folders, tmp_path, monkeypatch):
    with pytest.raises(InputError, match="no such folder"):
        load_encoder(tmp_path / "nowhere", "cls")
    with pytest.raises(InputError, match=r"no config\.json"):
        load_encoder(tmp_path, "cls")
    with pytest.raises(InputError, match="no pooling is recorded"):
        load_encoder(folders["bert"])
    with pytest.raises(InputError, match="one of cls, mean, first_last, prompt, pooler"):
        load_encoder(folders["bert"], "max")
    shutil.copytree(folders["bert"], tmp_path / "model")
    (tmp_path / "model" / "model.safetensors").unlink()
    with pytest.raises(InputError, match="cannot be loaded"):
        load_encoder(tmp_path / "model", "cls")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(InputError, match="some-org/no-such-encoder") as caught:
        load_encoder("some-org/no-such-encoder", "cls")
    assert "local folder" in caught.value.remedy


def test_untrained_is_seeded_and_leaves_the_global_generator(folders):
    before = torch.random.get_rng_state()
    first, _ = untrained(folders["bert"], "cls", seed=0)
    again, _ = untrained(folders["bert"], "cls", seed=0)
    other, _ = untrained(folders["bert"], "cls", seed=1)
    assert torch.equal(before, torch.random.get_rng_state())
    states = [model.state_dict() for model in (first, again, other)]
    assert all(torch.equal(states[0][key], states[1][key]) for key in states[0])
    assert any(not torch.equal(states[0][key], states[2][key]) for key in states[0])


def test_weights_are_float32_without_a_pooler(folders):
    encoder, _ = load_encoder(folders["bert"], "cls")
    assert {p.dtype for p in encoder.parameters()} == {torch.float32}
    assert encoder.backbone.pooler is None
    assert not any("pooler" in name for name, _ in encoder.named_parameters())


TEXTS = [*SENTENCES, " ".join(WORDS * 3)]


@pytest.mark.parametrize("family", ["bert", "roberta"])
@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_sentence_transformers_gives_the_same_vectors(folders, tmp_path, family, pooling):
    encoder, tokenizer = load_encoder(folders[family], pooling)
    ours = Embedder(encoder, tokenizer)(TEXTS)
    export(tmp_path / "model", encoder, tokenizer)
    theirs = SentenceTransformer(str(tmp_path / "model"), device="cpu").encode(TEXTS)
    np.testing.assert_allclose(theirs, ours, atol=1e-6)
    again, same_tokenizer = load_encoder(tmp_path / "model")
    assert again.pooling == pooling
    assert np.array_equal(Embedder(again, same_tokenizer)(TEXTS), ours)
    _, report = AutoModel.from_pretrained(tmp_path / "model", output_loading_info=True)
    assert not report["missing_keys"]


@pytest.mark.parametrize("pooling", ["first_last", "prompt", "convolved"])
def test_what_sentence_transformers_cannot_express_is_refused(folders, tmp_path, pooling):
    encoder, tokenizer = load_encoder(folders["bert"], pooling)
    with pytest.raises(InputError, match="sentence-transformers cannot express it"):
        export(tmp_path / "model", encoder, tokenizer)
    save_encoder(tmp_path / "kept", encoder, tokenizer)
    assert not (tmp_path / "kept" / "modules.json").exists()
    assert load_encoder(tmp_path / "kept")[0].pooling == pooling


def test_convolutions_are_drawn_stored_and_read_back(folders, tmp_path):
    encoder, tokenizer = load_encoder(folders["bert"], "convolved")
    ISBERT().networks(encoder, Streams(1), Alone())
    first, again, fresh = (
        load_encoder(folders["bert"], "convolved")[0],
        load_encoder(folders["bert"], "convolved")[0],
        untrained(folders["bert"], "convolved")[0],
    )
    save_encoder(tmp_path / "kept", encoder, tokenizer)
    stored, _ = load_encoder(tmp_path / "kept")
    ISBERT().networks(stored, Streams(2), Alone())  # which go on from what is stored
    drawn = [torch.cat([p.flatten() for p in e.convolutions.parameters()]) for e in (first, again, fresh)]
    mine, theirs = (torch.cat([p.flatten() for p in e.convolutions.parameters()]) for e in (encoder, stored))
    assert torch.equal(drawn[0], drawn[1])
    assert torch.equal(drawn[0], drawn[2])
    assert torch.equal(mine, theirs)
    assert not torch.equal(mine, drawn[0])
    assert not load_encoder(tmp_path / "kept", "mean")[0].convolutions
    of_untrained = untrained(tmp_path / "kept")[0].convolutions.state_dict()
    assert torch.equal(of_untrained["0.weight"], first.convolutions[0].weight)
    path = tmp_path / "kept" / "convolutions.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InputError, match=r"convolutions\.safetensors: cannot be loaded"):
        load_encoder(tmp_path / "kept")
    path.unlink()
    with pytest.raises(InputError, match=r"convolutions\.safetensors: cannot be loaded"):
        load_encoder(tmp_path / "kept")


def test_a_float64_encoder_is_saved_in_float32_and_left_alone_and_so_is_a_folder_in_use(folders, tmp_path):
    encoder, tokenizer = load_encoder(folders["bert"], "cls")
    encoder.double().train()
    save_encoder(tmp_path / "model", encoder, tokenizer)
    assert next(encoder.parameters()).dtype == torch.float64
    assert encoder.training
    assert next(AutoModel.from_pretrained(tmp_path / "model").parameters()).dtype == torch.float32
    encoder, tokenizer = load_encoder(folders["bert"], "cls")
    (tmp_path / "note.txt").write_text("mine")
    with pytest.raises(InputError, match="something here already"):
        export(tmp_path, encoder, tokenizer)


def test_an_export_is_padded_on_the_side_that_was_scored_and_may_be_read_by_all(folders, tmp_path):
    encoder, tokenizer = load_encoder(folders["bert"], "mean")
    tokenizer.padding_side = "left"
    export(tmp_path / "model", encoder, tokenizer)
    assert AutoTokenizer.from_pretrained(tmp_path / "model").padding_side == "right"
    modes = {path.name: path.stat().st_mode for path in (tmp_path / "model").iterdir() if path.is_file()}
    assert len(set(modes.values())) == 1
    assert "config_sentence_transformers.json" in modes


def test_an_export_whose_vectors_differ_in_a_library_is_refused_and_leaves_nothing(folders, tmp_path):
    encoder, tokenizer = load_encoder(folders["roberta"], "mean")
    # An unknown word becomes padding: transformers takes positions from such ids, the product from its mask.
    tokenizer.backend_tokenizer.model.unk_token = "<pad>"
    with pytest.raises(
        InputError, match=r"in sentence-transformers differ by .* from those that were scored"
    ):
        export(tmp_path / "model", encoder, tokenizer)
    assert not list(tmp_path.iterdir())
