"""The command in this process: arguments in, exit code and both streams out."""

from dataclasses import dataclass

import pytest
from transformers import BertModel

from rse_study.cli.app import app
from rse_study.data import builtin
from tests.tiny_models import save_bert, word_tokenizer, words_of

NUM_POSITIONS = 48


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


@dataclass
class Ended:
    code: int
    out: str
    err: str


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
        return Ended(int(ended.value.code or 0), captured.out, captured.err)

    return call
