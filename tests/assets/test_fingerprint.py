"""What a model is, by content: every file that decides its numbers, and no other."""

import shutil

import pytest

from rse_study.assets.store import fingerprint_of_model, fingerprint_of_weights
from rse_study.errors import InputError

OTHERS = ["vocab.txt", "merges.txt", "spiece.model", "tokenizer_config.json"]  # of other tokenizers


@pytest.fixture
def folder(small, tmp_path):
    shutil.copytree(small, tmp_path / "model")
    return tmp_path / "model"


def test_a_copy_is_the_same_model_wherever_it_lies_and_without_weights_none(folder, small):
    (folder / "meta.json").unlink()
    (folder / "README.md").write_text("words about it")
    assert fingerprint_of_model(str(folder)) == fingerprint_of_model(str(small), "any-revision")
    (folder / "model.safetensors").unlink()
    with pytest.raises(InputError, match="no weights in this folder"):
        fingerprint_of_model(str(folder))


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors", *OTHERS])
def test_every_file_that_matters_counts(folder, name):
    before, path = fingerprint_of_model(str(folder)), folder / name
    content = path.read_bytes() if path.is_file() else b""
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]) if content else b"{}")
    assert fingerprint_of_model(str(folder)) != before
    path.write_bytes(content) if content else path.unlink()
    assert fingerprint_of_model(str(folder)) == before


@pytest.mark.parametrize("name", ["model.safetensors", "head.safetensors", "pytorch_model.bin"])
def test_weights_are_all_weights_files_and_nothing_else(folder, name):
    before = fingerprint_of_weights(folder)
    for other in ("config.json", "meta.json", "vocab.txt"):
        (folder / other).write_text("{}")
    assert fingerprint_of_weights(folder) == before
    (folder / name).write_bytes(b"others")
    assert fingerprint_of_weights(folder) != before


@pytest.mark.parametrize("names", [("model-00001-of-00002", "model-00002-of-00002"), ("pytorch_model",) * 2])
def test_weights_in_several_files_and_older_ones_count(folder, names):
    end = ".safetensors" if names[0] != names[1] else ".bin"
    (folder / "model.safetensors").rename(folder / f"{names[0]}{end}")
    found = set()
    for content in (b"one", b"two"):
        (folder / f"{names[1]}{end}").write_bytes(content)
        found.add(fingerprint_of_model(str(folder)))
    assert len(found) == 2
