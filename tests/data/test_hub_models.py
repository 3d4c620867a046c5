"""Names of models: folders, the hub's cache, the hub itself, or nobody who could say."""

import shutil
import subprocess
import sys
import time

import pytest
from huggingface_hub import constants, hf_hub_download
from transformers import AutoConfig

from rse_study.assets.store import fingerprint_of_model
from rse_study.data.hub_models import (
    SECONDS,
    UncheckedModel,
    UnknownModel,
    check_model,
    check_models,
    describe_model,
    fetch_model,
    is_on_machine,
)
from rse_study.errors import InputError
from rse_study.models.generators import load_generator
from rse_study.models.loading import load_encoder
from tests.cases import cases
from tests.hub import COMMIT, ask_only, serve
from tests.tiny_models import random_bert, word_tokenizer

NAME = "somebody/small-bert"
FILES = {
    "config.json": '{"model_type": "bert"}',
    "vocab.txt": "a",
    "model.safetensors": "w",
    "pytorch_model.bin": "w",
}
OTHERS = {"tf_model.h5": "w", "onnx/model.onnx": "w", "1_Pooling/config.json": "{}", "onnx/config.json": "{}"}
NOBODY = "http://127.0.0.1:9"


@pytest.fixture
def server(tmp_path, monkeypatch):
    for path, content in (FILES | OTHERS).items():
        file = tmp_path / "served/models" / NAME / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    (tmp_path / "served/models/somebody/empty").mkdir()
    with serve(tmp_path / "served") as server:
        ask_only(server, tmp_path / "cache", monkeypatch)
        yield server


def test_a_model_is_a_folder_or_on_the_hub_or_one_of_ours(server, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/config.json").write_text("{}")
    for name in (str(tmp_path / "mine"), "~/mine", NAME, "tiny", "minilm", "base"):
        check_model(name)
    assert is_on_machine(("~/mine", "main")) and not is_on_machine((NAME, "main"))
    assert [verb for verb, address, _ in server.asked if NAME in address] == ["HEAD"]


@cases(
    ("name", "said"),
    [
        ("somebody/smal-bert", r"no such folder, and no such model on the hub.*Check the name"),
        ("somebody/empty", r"has no config.json on the hub"),
        ("./nowhere", r"/nowhere: no such folder: looked for in .*. Check the path"),
        ("~/nowhere", r"/nowhere: no such folder. Check the path"),
        ("a/b/c", r"/a/b/c: no such folder"),
        ("not a name!", r"not a name!: is neither a folder nor a name on the hub"),
    ],
)
def test_a_name_that_is_nothing_is_refused(server, name, said):
    with pytest.raises(UnknownModel, match=said) as refused:
        check_model(name)
    assert not isinstance(refused.value, UncheckedModel)


@cases("is_offline", [True, False], ids=["offline", "no connection"])
def test_a_hub_that_does_not_answer_is_no_verdict_and_is_asked_once(server, monkeypatch, is_offline):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", is_offline)
    pattern = NOBODY + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", pattern)
    began = time.monotonic()
    problems = check_models([(NAME, "main"), ("somebody/else", "main"), ("/no/where", "main")])
    assert time.monotonic() - began < 2 * SECONDS
    kinds = [type(problem) for problem in problems.values()]
    assert kinds == [UncheckedModel, UncheckedModel, UnknownModel]
    assert "cannot be checked offline" in str(problems[NAME, "main"])


def test_a_model_is_fetched_with_one_kind_of_weights_and_found_offline(server, monkeypatch):
    files = {path.name for path in fetch_model((NAME, "main"))}
    assert files == {"config.json", "vocab.txt", "model.safetensors"}
    got = [address.partition("/main/")[2] for verb, address, _ in server.asked if verb == "GET"]
    assert {path for path in got if path} == {*files, "1_Pooling/config.json"}
    assert [file.size for file in describe_model((NAME, "main"))].count(1) == 2
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert is_on_machine((NAME, "main"))
    check_model(NAME)
    assert AutoConfig.from_pretrained(NAME).model_type == "bert"


def test_asking_needs_no_torch():
    code = "import sys; from rse_study.data.hub_models import check_models; check_models([('a/b', 'main')])"
    code += "; assert not {'torch', 'transformers', 'datasets'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", code], check=True, env={"HF_HUB_OFFLINE": "1"})


@pytest.fixture
def bert(server):
    """A real model at the server, and what loads all of it."""
    folder = server.root / "models/somebody/bert"
    words = word_tokenizer(["one", "two"])
    words.save_pretrained(folder)
    random_bert(len(words)).save_pretrained(folder)

    def loads(revision="main"):
        encoder, _ = load_encoder("somebody/bert", "cls", revision)
        load_generator("somebody/bert", revision)
        assert fingerprint_of_model("somebody/bert", revision) == f"somebody/bert@{COMMIT}"
        return encoder.backbone.get_input_embeddings().weight

    return folder, loads


@cases("revision", ["main", COMMIT, "v1"])
def test_a_model_that_was_fetched_is_loaded_without_a_question(server, bert, revision):
    shutil.rmtree(constants.HF_HUB_CACHE, ignore_errors=True)
    fetch_model(("somebody/bert", revision))
    assert is_on_machine(("somebody/bert", revision))
    server.asked.clear()
    bert[1](revision)
    assert not server.asked


def test_a_model_that_was_loaded_once_is_loaded_again_without_a_question(server, bert):
    bert[1]()
    server.asked.clear()
    bert[1]()
    assert not server.asked


@cases(
    "kept", [("config.json", "tokenizer_config.json", "tokenizer.json"), ("config.json", "model.safetensors")]
)
def test_a_model_that_is_cached_in_part_is_refused_at_once_or_asked_for(server, bert, monkeypatch, kept):
    shutil.rmtree(constants.HF_HUB_CACHE, ignore_errors=True)
    for path in kept:
        hf_hub_download("somebody/bert", path)
    assert not is_on_machine(("somebody/bert", "main"))
    with monkeypatch.context() as nobody:
        for name in ("ENDPOINT", "HUGGINGFACE_CO_URL_TEMPLATE"):
            there = getattr(constants, name)
            nobody.setattr(constants, name, there.replace(server.address, NOBODY))
        nobody.setattr(
            "transformers.utils.hub._hf_api", None
        )  # or it would ask nobody afterwards, too, for 40 s
        began = time.monotonic()
        with pytest.raises(InputError, match=r"bert: cannot be loaded.*fill the hub's cache first"):
            bert[1]()
        assert time.monotonic() - began < 2 * SECONDS
    assert len(bert[1]())


STARTS_A_PROCESS_WHILE_THE_HUB_IS_ASKED = """
import subprocess, threading
from huggingface_hub import close_session
from huggingface_hub.utils import get_session
from rse_study.data.hub_models import leave_client_to_its_process

leave_client_to_its_process()
client = get_session()
lock, held, done = client._transport._pool._optional_thread_lock, threading.Event(), threading.Event()

def ask():
    with lock:
        held.set()
        done.wait()

asking = threading.Thread(target=ask)
asking.start()
held.wait()
child = subprocess.Popen(["true"], preexec_fn=lambda: None)  # as Ray starts its own
done.set()
asking.join()
assert child.wait() == 0
assert get_session() is client and not client.is_closed
close_session()
assert client.is_closed
"""


def test_a_fork_while_another_thread_asks_the_hub_does_not_hang():
    command = [sys.executable, "-c", STARTS_A_PROCESS_WHILE_THE_HUB_IS_ASKED]
    subprocess.run(command, timeout=60, check=True)
