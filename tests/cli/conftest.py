"""The command in this process: arguments in, exit code and both streams out."""

import json
from dataclasses import dataclass

import pytest
from transformers import BertModel

from rse_study.cli.app import app
from rse_study.data import builtin
from tests.analysis import tabled
from tests.cli.output_schema import require_schema
from tests.tiny_models import save_bert, word_tokenizer, words_of

NUM_POSITIONS = 48
NEXT = "Next: "


@pytest.fixture(scope="session")
def models_folder(tmp_path_factory):
    """Two-layer BERTs: `encoder` (a masked LM), `headless` (without its head), `other` (with other words)."""
    root = tmp_path_factory.mktemp("models")
    words = words_of(builtin.corpus(0, 200))
    tokenizer, other = (word_tokenizer(some, pairs=False, max_length=None) for some in (words, words[::-1]))
    save_bert(root / "encoder", tokenizer, max_position_embeddings=NUM_POSITIONS)
    save_bert(root / "headless", tokenizer, BertModel, max_position_embeddings=NUM_POSITIONS)
    save_bert(root / "other", other, max_position_embeddings=NUM_POSITIONS)
    return root


@pytest.fixture(scope="session")
def kept(tmp_path_factory):
    """Make a grid, or hand out the one that was made so before: for reading only."""
    found = {}

    def grid(name, rows, seeds=None, **study):
        asked = repr((name, rows, seeds, study))
        if asked not in found:
            folder = tmp_path_factory.mktemp("kept") / name
            found[asked] = tabled.make(folder, rows, seeds, name=name, **study)
        return found[asked]

    return grid


@pytest.fixture
def make(kept, tmp_path):
    """Put a grid that others read, too, into the store."""

    def link(name, rows, seeds=None, **study):
        path = tmp_path / "studies" / name
        path.parent.mkdir(exist_ok=True)
        path.symlink_to(kept(name, rows, seeds, **study))
        return path

    return link


@dataclass
class Ended:
    code: int
    out: str
    err: str
    """without the line that says what to do next"""
    next: str = ""
    """the commands of that line"""


@pytest.fixture
def rse(capsys, monkeypatch, tmp_path):
    """Run `rse-study ...` in an empty folder with an empty cache and no data."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RSE_STUDY_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("RSE_STUDY_DATA", raising=False)
    monkeypatch.setenv("COLUMNS", "120")

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            app(list(arguments), prog_name="rse-study")
        captured = capsys.readouterr()
        said = captured.err.splitlines(keepends=True)
        follows = [line.removeprefix(NEXT).rstrip("\n") for line in said if line.startswith(NEXT)]
        assert len(follows) <= 1
        if "--json" in arguments and captured.out:
            require_schema(arguments, json.loads(captured.out))
        err = "".join(line for line in said if not line.startswith(NEXT))
        return Ended(int(ended.value.code or 0), captured.out, err, "".join(follows))

    return call
