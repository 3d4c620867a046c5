"""Folders of sentence-transformers: scored with all that they record; trained from only if nothing is left out."""

import json
import shutil

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules

from rse_study.errors import InputError
from rse_study.models.embedder import Embedder
from rse_study.models.export import WholeModel
from rse_study.models.loading import load_encoder

from .conftest import SENTENCES, SIZES

SIZE = SIZES["hidden_size"]
TEXTS = [*SENTENCES, "The OLD Cat", "a"]


def saved(folder, base, *layers, pooling="mean", **settings):
    """Save base, pooling and further modules as sentence-transformers does."""
    torch.manual_seed(1)
    transformer = modules.Transformer(str(base), **settings.pop("transformer", {}))
    pool = modules.Pooling(SIZE, pooling, **settings.pop("pool", {}))
    made = SentenceTransformer(modules=[transformer, pool, *layers], device="cpu", **settings)
    made.save(str(folder), create_model_card=False)
    return folder


def edited(folder, file, **changes):
    content = json.loads((folder / file).read_text())
    (folder / file).write_text(json.dumps({**content, **changes}))
    return folder


def in_old_layout(folder, base):
    saved(folder, base)
    (folder / "0_Transformer").mkdir()
    for path in [one for one in folder.iterdir() if one.is_file() and one.name != "modules.json"]:
        path.rename(folder / "0_Transformer" / path.name)
    listed = json.loads((folder / "modules.json").read_text())
    listed[0]["path"] = "0_Transformer"
    (folder / "modules.json").write_text(json.dumps(listed))
    return folder


def lowered(folder, base):
    """A tokenizer that minds case, in a model that lowers every text."""
    edited(saved(folder, base), "tokenizer.json", normalizer=None)
    return edited(folder, "sentence_bert_config.json", do_lower_case=True)


PROMPT = {"prompts": {"q": "the old bird "}, "default_prompt_name": "q"}
REFUSED = {
    "its module 2_Dense": lambda folder, base: saved(folder, base, modules.Dense(SIZE, 8)),
    "its module 2_LayerNorm": lambda folder, base: saved(folder, base, modules.LayerNorm(SIZE)),
    "its module 2_Dropout": lambda folder, base: saved(folder, base, modules.Dropout(0.1)),
    r"its pooling cls \+ mean": lambda folder, base: saved(folder, base, pooling=("cls", "mean")),
    "its pooling max": lambda folder, base: saved(folder, base, pooling="max"),
    "its pooling weightedmean": lambda folder, base: saved(folder, base, pooling="weightedmean"),
    "its pooling lasttoken": lambda folder, base: saved(folder, base, pooling="lasttoken"),
    r"include_prompt": lambda folder, base: saved(folder, base, pool={"include_prompt": False}, **PROMPT),
    "do_lower_case": lowered,
    "truncate_dim = 8": lambda folder, base: saved(folder, base, truncate_dim=8),
    "its Transformer lies in 0_Transformer/": in_old_layout,
    "its Transformer's processing_kwargs": lambda folder, base: edited(
        saved(folder, base), "sentence_bert_config.json", processing_kwargs={"text": {"max_length": 5}}
    ),
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_our_encoder_lacks_is_scored_by_sentence_transformers_and_no_base_of_training(
    folders, tmp_path, said
):
    folder = REFUSED[said](tmp_path / "model", folders["bert"])
    theirs = SentenceTransformer(str(folder), device="cpu", local_files_only=True).encode(TEXTS)
    np.testing.assert_allclose(WholeModel(folder)(TEXTS), theirs, atol=1e-5)
    for pooling in ("stored", "mean"):
        with pytest.raises(InputError, match=said) as caught:
            load_encoder(folder, pooling)
    assert "rse-study evaluate" in caught.value.remedy


TRAINED = {
    "cls": lambda folder, base: saved(folder, base, pooling="cls"),
    "mean": lambda folder, base: saved(folder, base, pooling="mean"),
    "a prompt by default": lambda folder, base: saved(folder, base, **PROMPT),
    "unused prompts": lambda folder, base: saved(folder, base, prompts={"q": "the old bird "}),
    "a limit of tokens": lambda folder, base: saved(folder, base, transformer={"max_seq_length": 6}),
    "a limit in a file of version 1": lambda folder, base: shutil.move(
        edited(saved(folder, base), "sentence_bert_config.json", max_seq_length=6)
        / "sentence_bert_config.json",
        folder / "sentence_roberta_config.json",
    ),
    "flags before version 6": lambda folder, base: (
        saved(folder, base) / "1_Pooling" / "config.json"
    ).write_text(json.dumps({"word_embedding_dimension": SIZE, "pooling_mode_mean_tokens": True})),
}


@pytest.mark.parametrize("kind", TRAINED)
def test_what_our_encoder_expresses_has_the_same_vectors_in_training(folders, tmp_path, kind):
    TRAINED[kind](tmp_path / "model", folders["bert"])
    theirs = SentenceTransformer(str(tmp_path / "model"), device="cpu", local_files_only=True).encode(TEXTS)
    np.testing.assert_allclose(Embedder(*load_encoder(tmp_path / "model"))(TEXTS), theirs, atol=1e-5)
    np.testing.assert_allclose(WholeModel(tmp_path / "model")(TEXTS), theirs, atol=1e-5)


def test_normalised_vectors_have_the_same_direction_in_training(folders, tmp_path):
    folder = saved(tmp_path / "model", folders["bert"], modules.Normalize())
    theirs = SentenceTransformer(str(folder), device="cpu", local_files_only=True).encode(TEXTS)
    np.testing.assert_allclose(WholeModel(folder)(TEXTS), theirs, atol=1e-5)
    ours = Embedder(*load_encoder(folder))(TEXTS)
    np.testing.assert_allclose(ours / np.linalg.norm(ours, axis=1, keepdims=True), theirs, atol=1e-5)


DAMAGED = {
    "cannot be loaded .*header": lambda folder: (folder / "2_Dense/model.safetensors").write_bytes(
        b"\x99" * 50
    ),
    "some of its weights are missing": lambda folder: edited(folder, "config.json", num_hidden_layers=4),
    "no tokenizer is here": lambda folder: (folder / "tokenizer.json").unlink(),
    "is a SparseEncoder": lambda folder: edited(
        folder, "config_sentence_transformers.json", model_type="SparseEncoder"
    ),
    "change by .* beside a longer one": lambda folder: edited(
        folder, "tokenizer_config.json", padding_side="left"
    ),
    "own_module.Pooling": lambda folder: (folder / "modules.json").write_text(
        (folder / "modules.json")
        .read_text()
        .replace("sentence_transformers.sentence_transformer.modules.pooling.", "own_module.")
    ),
}


@pytest.mark.parametrize("said", DAMAGED)
def test_a_damaged_or_unfit_whole_model_is_refused(folders, tmp_path, said):
    folder = saved(tmp_path / "model", folders["bert"], modules.Dense(SIZE, 8))
    DAMAGED[said](folder)
    with pytest.raises(InputError, match=said) as caught:
        WholeModel(folder)
    assert str(folder) in caught.value.where
    assert caught.value.remedy
