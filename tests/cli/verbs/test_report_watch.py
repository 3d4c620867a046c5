"""`report --watch`: the page follows the ledger until nobody runs the study."""

import re
import threading
import time

import pytest

from rse_study.cli.verbs import report as page
from rse_study.results.files.ledger import Ledger
from tests.cli.a_study import SEARCH, cell_of, run

RELOADS = re.compile(r'<html lang="en" data-reload="(\d+)" data-written="\d{4}-')


@pytest.fixture
def hurried(monkeypatch):
    monkeypatch.setattr(page, "LOOK_SECONDS", 0.05)


def test_a_study_nobody_runs_is_written_once(rse, ran, hurried, tmp_path):
    ended = rse("report", "little", "--watch")
    assert (ended.code, ended.err) == (0, "")
    (line,) = ended.out.splitlines()
    assert line.endswith("report.html: final; it no longer reloads itself")
    assert not RELOADS.search((tmp_path / "studies/little/report.html").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_a_page_is_written_again_while_the_study_runs_and_once_more_at_the_end(rse, hurried, tmp_path):
    folder = tmp_path / "studies" / "little"
    report, seen = folder / "report.html", []

    def shows(words):
        deadline = time.monotonic() + 60
        while not (report.is_file() and words in report.read_text(encoding="utf-8")):
            assert time.monotonic() < deadline, f"never written: {words}"
            time.sleep(0.02)
        seen.append(RELOADS.search(report.read_text(encoding="utf-8")) is not None)

    def run_study(begun):
        with Ledger.open(folder) as ledger:
            ledger.freeze(SEARCH)
            begun.set()
            for trial in range(2):
                run(ledger, cell_of(trial), 50.0 + trial)
                shows(f"{trial + 1} of 4 trials complete")

    begun = threading.Event()
    runner = threading.Thread(target=run_study, args=(begun,))
    runner.start()
    begun.wait(60)
    ended = rse("report", "little", "--watch")
    runner.join()
    assert (ended.code, ended.err) == (0, "")
    assert seen == [True, True]
    assert len(ended.out.splitlines()) >= 3
    assert not RELOADS.search(report.read_text(encoding="utf-8"))


def test_tables_are_not_watched(rse, ran):
    ended = rse("report", "little", "--watch", "--tables", "x")
    assert ended.code == 2
    assert "Leave out --tables, or --watch" in ended.err
