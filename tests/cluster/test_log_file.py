"""A file is printed as it grows, to its last line."""

from pathlib import Path

import pytest

from rse_study.cluster import log_file
from rse_study.cluster.log_file import print_log
from rse_study.errors import MissingFile


@pytest.fixture(autouse=True)
def _often(monkeypatch):
    monkeypatch.setattr(log_file, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(log_file, "ASK_SECONDS", 0.0)


def test_what_is_written_while_we_ask_is_printed(tmp_path: Path, capsys):
    log, answers = tmp_path / "job.log", iter([False, False, True])
    log.write_text("first\n", encoding="utf-8")

    def is_over() -> bool:
        answer = next(answers)
        with log.open("a", encoding="utf-8") as stream:
            stream.write(f"asked, {answer}\n")
        return answer

    print_log(log, is_over)
    assert capsys.readouterr().out.splitlines() == ["first", "asked, False", "asked, False", "asked, True"]


def test_a_job_without_a_log_is_said(tmp_path: Path):
    with pytest.raises(MissingFile, match="no log: the job has written nothing"):
        print_log(tmp_path / "job.log", lambda: True)
