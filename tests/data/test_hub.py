"""Datasets by name: what is prepared at the revision wanted is read without the hub, everything else is asked for."""

import time

import pytest
from huggingface_hub import constants

from rse_study.data.hub import load_split
from rse_study.data.hub_models import SECONDS
from rse_study.errors import InputError
from tests.cases import cases
from tests.hub import COMMIT, ask_only, serve

CARD = """---
configs:
- {config_name: one, data_files: one.csv}
- {config_name: two, data_files: two.csv%s}
---
"""
SERVED = {
    "some/plain/data.csv": "text\nhello\nworld\n",
    "some/plain/README.md": "",
    "some/ofMany/README.md": CARD % "",
    "some/other/README.md": CARD % ", default: true",
    "some/other/one.csv": "text\na\n",
    "some/other/two.csv": "text\nb\n",
    "some/ofMany/one.csv": "text\na\n",
    "some/ofMany/two.csv": "text\nb\n",
}
NOBODY = "http://127.0.0.1:9"


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A hub, two datasets of which were read once."""
    for path, content in SERVED.items():
        file = tmp_path / "served/datasets" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    with serve(tmp_path / "served") as server:
        ask_only(server, tmp_path / "cache", monkeypatch)
        load_split("some/plain", "train", tmp_path)
        load_split("some/ofMany", "train", tmp_path, config="one")
        server.asked.clear()
        yield server


@cases(
    ("name", "config", "revision", "first"),
    [
        ("some/plain", "", "main", "hello"),
        ("some/plain", "", COMMIT, "hello"),
        ("some/ofMany", "one", "main", "a"),
    ],
)
def test_what_is_prepared_is_read_without_a_question(server, tmp_path, name, config, revision, first):
    table = load_split(name, "train[:1]", tmp_path, config=config, revision=revision)
    assert (table["text"][:], server.asked) == ([first], [])


@cases(
    ("name", "config", "revision"),
    [
        ("some/ofMany", "two", "main"),
        ("some/ofMany", "", "main"),  # it has no default, though one alone is here
        ("some/plain", "", "1" * 40),
        ("some/plain", "", "v2"),
        ("some/none", "", "main"),
    ],
)
@pytest.mark.parametrize("is_offline", [True, False], ids=["HF_HUB_OFFLINE", "no connection"])
def test_another_configuration_or_revision_is_not_taken_for_it(
    server, tmp_path, monkeypatch, is_offline, name, config, revision
):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", is_offline)
    pattern = NOBODY + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", pattern)
    began = time.monotonic()
    with pytest.raises(InputError, match=r"cannot be loaded \(.*cannot be checked offline"):
        load_split(name, "train", tmp_path, config=config, revision=revision)
    assert time.monotonic() - began < 2 * SECONDS


def test_another_configuration_is_got_where_the_hub_answers(server, tmp_path):
    assert load_split("some/ofMany", "train", tmp_path, config="two")["text"][:] == ["b"]
    assert server.asked
