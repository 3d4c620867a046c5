"""Assets are built once and whole; a model is every file that decides its numbers, and no other."""

import multiprocessing
import os
import shutil
import signal
import time

import pytest

from rse_study.assets.store import asset_path, build, fingerprint_of_model, fingerprint_of_weights
from rse_study.errors import InputError

KEY = {"corpus": "c", "size": 3}


def write(draft, text="built"):
    draft.mkdir()
    (draft / "weights").write_text(text)
    (draft / "meta.json").write_text("{}")


def test_built_once_and_found_by_its_key(tmp_path):
    built = []

    def builder(draft):
        built.append(draft)
        write(draft)

    first = build(tmp_path, "tiny", KEY, builder)
    assert build(tmp_path, "tiny", dict(reversed(KEY.items())), builder) == first
    assert first == asset_path(tmp_path, "tiny", KEY)
    assert first.name.startswith("tiny-")
    assert build(tmp_path, "tiny", {**KEY, "size": 4}, builder) != first
    assert len(built) == 2


def test_a_failed_build_leaves_nothing_that_counts(tmp_path):
    def fail(draft):
        draft.mkdir()
        (draft / "weights").write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        build(tmp_path, "tiny", KEY, fail)
    assert not asset_path(tmp_path, "tiny", KEY).exists()
    final = build(tmp_path, "tiny", KEY, write)
    assert (final / "weights").read_text() == "built"
    assert [p.name for p in tmp_path.iterdir() if p.is_dir()] == [final.name]


def _slow(root, marker):
    def builder(draft):
        with marker.open("a") as stream:
            stream.write("built\n")
        time.sleep(0.3)
        write(draft)

    build(root, "tiny", KEY, builder)


def test_processes_wait_for_the_one_that_builds(tmp_path):
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_slow, args=(tmp_path, tmp_path / "log")) for _ in range(3)]
    [worker.start() for worker in workers]
    [worker.join(20) for worker in workers]
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert (tmp_path / "log").read_text() == "built\n"


def _killed(root):
    def builder(draft):
        draft.mkdir()
        (draft / "weights").write_text("half")
        os.kill(os.getpid(), signal.SIGKILL)

    build(root, "tiny", KEY, builder)


def test_a_killed_build_is_cleared_away(tmp_path):
    worker = multiprocessing.get_context("fork").Process(target=_killed, args=(tmp_path,))
    worker.start()
    worker.join(20)
    assert worker.exitcode == -signal.SIGKILL
    final = build(tmp_path, "tiny", KEY, write)
    assert (final / "weights").read_text() == "built"
    assert [p.name for p in tmp_path.iterdir() if p.is_dir()] == [final.name]


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
