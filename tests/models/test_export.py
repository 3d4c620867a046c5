import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from transformers import AutoModel, AutoTokenizer

from rse_study.errors import InputError
from rse_study.models.embedder import Embedder
from rse_study.models.export import export, save_encoder
from rse_study.models.loading import load_encoder

from .conftest import SENTENCES, WORDS

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


@pytest.mark.parametrize("pooling", ["first_last", "prompt"])
def test_what_sentence_transformers_cannot_express_is_refused(folders, tmp_path, pooling):
    encoder, tokenizer = load_encoder(folders["bert"], pooling)
    with pytest.raises(InputError, match="sentence-transformers cannot express it"):
        export(tmp_path / "model", encoder, tokenizer)
    save_encoder(tmp_path / "kept", encoder, tokenizer)
    assert not (tmp_path / "kept" / "modules.json").exists()
    assert load_encoder(tmp_path / "kept")[0].pooling == pooling


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
