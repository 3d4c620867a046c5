"""The command in this process: arguments in, exit code and both streams out."""

from dataclasses import dataclass

import pytest

from rse_study.cli.app import app


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
