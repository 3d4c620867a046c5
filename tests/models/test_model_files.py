"""Files of a model that are refused by name before a library opens them."""

import json
import os
import shutil

import pytest
import torch
import transformers as hf
from safetensors.torch import load_file, save_file

from rse_study.errors import InputError
from rse_study.models.loading import load_encoder, load_tokenizer
from tests.cases import cases


def rewritten(folder, file, **changes):
    content = json.loads((folder / file).read_text())
    (folder / file).write_text(json.dumps({**content, **changes}))


def replaced(folder, file, content):
    (folder / file).unlink()
    (folder / file).write_bytes(content)


def linked(folder, file, target):
    (folder / file).unlink()
    (folder / file).symlink_to(target)


def sparse(folder, file, size):
    with (folder / file).open("r+b") as stream:
        stream.truncate(size)


def without(folder, *files):
    for file in files:
        (folder / file).unlink(missing_ok=True)


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
DAMAGED = {
    r"config\.json: cannot be read .*BOM": lambda folder: replaced(
        folder, "config.json", b"\xef\xbb\xbf{}"
    ),
    r"config\.json: cannot be read \(JSONDecodeError": lambda folder: replaced(folder, "config.json", b"{"),
    r"config\.json: cannot be read .*a list where a dict is": lambda folder: replaced(
        folder, "config.json", b"[]"
    ),
    r"config\.json: has 5,000,000 bytes": lambda folder: sparse(folder, "config.json", 5_000_000),
    r"tokenizer\.json: has 99,000,000 bytes": lambda folder: sparse(folder, "tokenizer.json", 99_000_000),
    r"config\.json: num_hidden_layers = 1000000": lambda folder: rewritten(
        folder, "config.json", num_hidden_layers=10**6
    ),
    r"config\.json: max_position_embeddings = 1000000000": lambda folder: rewritten(
        folder, "config.json", max_position_embeddings=10**9
    ),
    r"model\.safetensors: is a pointer of Git LFS": lambda folder: replaced(folder, "model.safetensors", LFS),
    r"tokenizer\.json: is a pointer of Git LFS": lambda folder: replaced(folder, "tokenizer.json", LFS),
    r"model\.safetensors: is no regular file": lambda folder: linked(folder, "model.safetensors", "/dev/zero"),
    r"tokenizer\.json: is no regular file": lambda folder: linked(folder, "tokenizer.json", "nowhere"),
    r"model\.safetensors: cannot be loaded \(SafetensorError": lambda folder: replaced(
        folder, "model.safetensors", (4).to_bytes(8, "little") + b'"a" '
    ),
    r"tokenizer\.json: cannot be loaded \(": lambda folder: rewritten(folder, "tokenizer.json", model={}),
    r"config\.json: cannot be loaded \(": lambda folder: rewritten(folder, "config.json", model_type="x"),
    r"model\.safetensors: cannot be loaded \(": lambda folder: rewritten(
        folder, "config.json", hidden_size=18
    ),
    "no tokenizer is here": lambda folder: without(folder, "tokenizer.json"),
    "holds a PEFT adapter": lambda folder: (folder / "adapter_config.json").write_text("{}"),
    "its tokenizer pads with token 0, its config.json and positions with 3": lambda folder: rewritten(
        folder, "config.json", pad_token_id=3
    ),
}  # fmt: skip


@cases("said", DAMAGED)
def test_a_damaged_file_is_named(folders, tmp_path, said):
    folder = shutil.copytree(folders["bert"], tmp_path / "model")
    DAMAGED[said](folder)
    with pytest.raises(InputError, match=said) as caught:
        load_encoder(folder, "cls")
    assert caught.value.where.startswith(str(folder))
    assert caught.value.remedy


def test_weights_that_are_no_numbers_are_refused(folders, tmp_path):
    folder = shutil.copytree(folders["bert"], tmp_path / "model")
    weights = load_file(folder / "model.safetensors")
    weights["bert.encoder.layer.0.output.dense.weight"][0, 0] = torch.nan
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match="its vectors are not finite"):
        load_encoder(folder, "mean")


def test_a_tokenizer_that_knows_a_fraction_of_the_embedding_is_another_models(folders, tmp_path):
    folder = shutil.copytree(folders["bert"], tmp_path / "model")
    content = json.loads((folder / "tokenizer.json").read_text())
    content["model"]["vocab"] = {word: i for word, i in content["model"]["vocab"].items() if i < 8}
    (folder / "tokenizer.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match="has 8 tokens, its embedding 23 rows"):
        load_encoder(folder, "mean")


def test_code_that_comes_with_a_model_is_refused_without_a_question(folders, tmp_path, monkeypatch):
    folder = shutil.copytree(folders["bert"], tmp_path / "model")
    monkeypatch.setattr("builtins.input", lambda *asked: pytest.fail("a question on the terminal"))
    (folder / "own.py").write_text("raise SystemExit('ran')")
    rewritten(
        folder, "config.json", model_type="own", auto_map={"AutoConfig": "own.Config", "AutoModel": "own.M"}
    )
    with pytest.raises(InputError, match=r"config\.json: cannot be loaded"):
        load_encoder(folder, "mean")


def test_a_tokenizer_alone_is_loaded_from_any_vocabulary_file(folders, tmp_path):
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "cat"]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    hf.BertConfig(vocab_size=6).save_pretrained(tmp_path)
    assert load_tokenizer(str(tmp_path)).convert_tokens_to_ids("cat") == 5
    os.remove(tmp_path / "vocab.txt")
    with pytest.raises(InputError, match="no tokenizer is here"):
        load_tokenizer(str(tmp_path))
