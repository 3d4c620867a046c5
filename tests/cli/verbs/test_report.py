"""`report`: of a study, and its tables."""

import re
import threading
import time

import pandas as pd
import pytest

from rse_study.cli.verbs import report as page
from rse_study.results.files.ledger import Ledger
from tests import needs
from tests.cli.a_study import SEARCH, cell_of, run


@pytest.mark.parametrize(
    ("out", "said"),
    [("folder", "is a folder: a file is written here"), ("file/report.html", "file is not a folder")],
)
def test_a_report_that_cannot_be_written_is_refused(rse, ran, tmp_path, out, said):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    ended = rse("report", "little", "--out", out)
    assert ended.code == 2
    assert ended.err.startswith(f"--out {out if out == 'folder' else 'file'}: ")
    assert said in ended.err


def test_a_report_brings_its_tables(rse, ran, tmp_path):
    ended = rse("report", "little", "--tables", "tables", "--as", "csv", "--as", "parquet")
    assert (ended.code, ended.err) == (0, "")
    assert pd.read_csv(tmp_path / "tables/trials.csv")["status"].tolist() == ["complete", "failed"]
    assert {"tables/trials.csv", "tables/trials.parquet"} <= {*ended.out.splitlines()}


def test_a_report_brings_tables_for_a_paper_and_says_what_to_cite(rse, ran, tmp_path):
    ended = rse("report", "little", "--tables", "tables", "--as", "latex", "--as", "csv")
    assert (ended.code, ended.err) == (0, "")
    written = {line for line in ended.out.splitlines() if line.startswith("tables/")}
    assert {"tables/little-setting.tex", "tables/trials.csv", "tables/citation.txt"} <= written
    cited = (tmp_path / "tables" / "citation.txt").read_text(encoding="utf-8")
    assert "study 'little', revision 1" in cited
    assert (tmp_path / "tables" / "little-setting.tex").read_text(encoding="utf-8").startswith(f"% {cited}")


@pytest.mark.xdist_group("browser")
@needs.programs("chromium")
def test_a_report_brings_its_figures(rse, ran, tmp_path):
    ended = rse("report", "little", "--figures", "figures")
    assert (ended.code, ended.err) == (0, "")
    assert "figures/history.svg" in ended.out.splitlines()
    assert (tmp_path / "figures" / "history.svg").read_bytes().startswith(b"<svg")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--as", "png"], "--as png without --figures: a format that has no effect. Say where they go"),
        (["--tables", "t", "--as", "svg"], "--as svg without --figures"),
        (["--figures", "f", "--as", "latex"], "--as latex without --tables"),
        (["--figures", "file"], "--figures file: "),
    ],
)
def test_a_format_that_decides_nothing_is_refused(rse, ran, tmp_path, arguments, said):
    (tmp_path / "file").write_text("")
    ended = rse("report", "little", *arguments)
    assert ended.code == 2
    assert said in ended.err
    assert ended.out == ""


def test_all_studies_have_an_index(rse, ran, tmp_path):
    ended = rse("report", "--all")
    assert (ended.code, ended.out, ended.err) == (0, "studies/index.html\n", "")
    assert 'href="little/report.html"' in (tmp_path / "studies/index.html").read_text(encoding="utf-8")
    assert (tmp_path / "studies/little/report.html").is_file()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "STUDY: no study is named. Name one"),
        (
            ["little", "--all"],
            "STUDY: cannot be combined with --all: it is of all studies at once. Leave out STUDY",
        ),
        (["--all", "--watch"], "--watch: cannot be combined with --all: it is of all studies at once."),
        (["--all", "--store", "nowhere"], "nowhere: no study has run here. Run one: rse-study run STUDY"),
    ],
)
def test_an_index_is_of_all_studies_and_of_nothing_else(rse, ran, arguments, said):
    ended = rse("report", *arguments)
    assert ended.code == 2
    assert ended.err.startswith(said)


# `report --watch`: the page follows the ledger until nobody runs the study.


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
