"""The index of a store: a line for each study, and reports that are as new as their ledgers."""

import os

import pytest

from analysis.report import changed_at, refresh_report, study_folders, write_index
from rse_study.results.files import backup
from rse_study.results.files.connect import take_lock
from rse_study.results.files.schema import ledger_path
from tests.analysis import gridded, searched, tabled
from tests.analysis.outline import Outline

pytestmark = pytest.mark.xdist_group("index")  # the reports are written once


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A whole grid with a baseline, a grid that misses a cell, a search that has not begun, and a damaged ledger."""
    tmp_path = tmp_path_factory.mktemp("store")
    rows = {"base": (50.0, 51.0, 52.0, 53.0), "up": (55.0, 56.2, 56.9, 58.1)}
    tabled.make(tmp_path / "whole", rows, name="whole", baseline="base")
    searched.make(tmp_path / "parts", gridded.grid, study=gridded.STUDY.model_copy(update={"num_cells": 1}))
    searched.make(tmp_path / "new & <b>")
    (tmp_path / "damaged").mkdir()
    ledger_path(tmp_path / "damaged").write_text("no ledger")
    (tmp_path / "no study").mkdir()
    (tmp_path / "lost").mkdir()
    (tmp_path / "lost" / backup.FILE_NAME).touch()
    return tmp_path


@pytest.fixture(scope="module")
def index(store):
    return write_index(store)


def test_every_study_has_its_line_and_one_that_somebody_runs_is_running(store, index):
    assert [path.name for path in study_folders(store)] == ["damaged", "new & <b>", "parts", "whole"]
    outline = Outline(index.read_text(encoding="utf-8"))
    for words in (
        "5 studies", "up is better than base: +5.05", "complete", "8 of 8",
        "No answer yet: 1 of 21 cells has not ended", "begun", "20 of 21", "not begun",
        "No answer yet: no trial has ended",
        "0 of 20", "Cannot be read", f"goes on from {store / 'lost' / backup.FILE_NAME}",
        "These folders hold no study: no study.",
    ):  # fmt: skip
        assert words in outline.text, words
    links = [attrs["href"] for tag, attrs in outline.tags if tag == "a" and not attrs["href"].startswith("#")]
    assert links == ["new%20%26%20%3Cb%3E/report.html", "parts/report.html", "whole/report.html"]
    assert "b" not in [tag for tag, _ in outline.tags]
    assert refresh_report(store / "parts", store)["state"] == "begun"
    with take_lock(store / "parts" / "ledger.lock"):
        assert refresh_report(store / "parts", store)["state"] == "running"


def test_reports_are_written_where_missing_or_old_and_links_lead_from_where_the_index_is(store, index):
    report = store / "whole" / "report.html"
    assert "<h1>whole</h1>" in report.read_text(encoding="utf-8")
    report.write_text("edited since")
    refresh_report(store / "whole", store)
    assert report.read_text() == "edited since"
    os.utime(report, (0, changed_at(store / "whole") - 1))
    refresh_report(store / "whole", store)
    assert "<h1>whole</h1>" in report.read_text(encoding="utf-8")
    out = write_index(store, store / "deep" / "index.html")
    assert 'href="../whole/report.html"' in out.read_text(encoding="utf-8")
