"""Names of models: folders, the hub's cache, the hub itself, or nobody who could say."""

import subprocess
import sys
import time

import pytest
from transformers import AutoConfig

from rse_study.data.hub_models import (
    SECONDS,
    UncheckedModel,
    UnknownModel,
    check_model,
    check_models,
    describe_model,
    fetch_model,
    has_weights,
)
from tests.cases import cases
from tests.hub import ask_only, serve

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
    assert has_weights(("~/mine", "main")) and not has_weights((NAME, "main"))
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
    assert has_weights((NAME, "main"))
    check_model(NAME)
    assert AutoConfig.from_pretrained(NAME).model_type == "bert"


def test_a_path_that_is_not_there_has_no_weights(tmp_path):
    assert not has_weights((str(tmp_path / "nowhere"), "main")) and not has_weights(("./nowhere", "main"))


def test_asking_needs_no_torch():
    code = "import sys; from rse_study.data.hub_models import check_models; check_models([('a/b', 'main')])"
    code += "; assert not {'torch', 'transformers', 'datasets'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", code], check=True, env={"HF_HUB_OFFLINE": "1"})
