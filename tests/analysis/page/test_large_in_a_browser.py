"""What a browser does with large pages: contents that come packed, and tables of thousands of rows."""

import pandas as pd
import plotly.graph_objects as go
import pytest

from analysis import page
from analysis.paper.kit import figures_in
from tests import needs
from tests.analysis.browser import saved

pytestmark = [pytest.mark.xdist_group("browser"), needs.programs("chromium")]
ALL_DRAWN = "[...document.querySelectorAll('.plot')].every(plot => plot.querySelector('.main-svg'))"


def test_a_large_figure_comes_packed_and_is_what_it_was(browser, tmp_path):
    frame = pd.DataFrame({"x": range(20_000), "y": [7.25] * 20_000})
    drawing = go.Figure(go.Scatter(x=frame["x"].tolist(), y=frame["y"].tolist()))
    html = page.page("Large", [page.section("One", page.figure(drawing, "large", frame))])
    assert html.count('<script type="application/gzip"') == 3  # plotly.js, the drawing and its numbers
    (again,) = figures_in(html).values()
    assert list(again.data[0].y) == list(frame["y"])
    tab = browser.open(page.write(tmp_path / "page.html", html))
    tab.wait(ALL_DRAWN)
    assert tab.say("document.querySelector('.plot').data[0].x.length") == len(frame)
    numbers = "JSON.parse(document.querySelector('.numbers').textContent).csv"
    assert tab.say(numbers) == frame.to_csv(index=False)
    assert tab.problems == []
    tab.close()


def test_of_a_table_of_thousands_the_first_rows_are_shown_and_each_row_can_be_found(browser, tmp_path):
    numbers = range(1200)
    frame = pd.DataFrame({"trial": [f"trial {n}" for n in numbers], "dev": [f"{n / 7:.2f}" for n in numbers]})
    block = page.table(frame, kind="pick", name="trials", row_names=[f"trial-{n}" for n in numbers])
    path = page.write(tmp_path / "page.html", page.page("Many", [page.section("Trials", block)]))
    shown = "[...document.querySelectorAll('#table-trials tbody tr')].filter(row => row.offsetHeight)"
    first = f"{shown}[0].cells[0].textContent"
    tab = browser.open(path)
    assert tab.say(f"{shown}.length") == 500
    assert "500 of 1200 rows are shown" in tab.say("document.querySelector('.tools').textContent")
    assert tab.say(f"{shown}.every(row => row.querySelector('input') && row.querySelector('.link'))")
    for _ in range(2):  # upwards, then downwards
        tab.click("#table-trials thead th:nth-child(2) .sort")
    assert (tab.say(f"{shown}.length"), "trial 1199" in tab.say(first)) == (500, True)
    find = "document.querySelector('.tools input')"
    tab.say(f"{find}.value = 'dev<1'; {find}.dispatchEvent(new Event('input'))")
    assert (tab.say(f"{shown}.length"), "trial 6" in tab.say(first)) == (7, True)
    tab.say(f"{find}.value = ''; {find}.dispatchEvent(new Event('input'))")
    assert (tab.say(f"{shown}.length"), "trial 1199" in tab.say(first)) == (500, True)
    tab.download_to(tmp_path)
    tab.click("[title='Download the table trials as CSV']")
    assert len(saved(tmp_path, "trials.csv").read_text(encoding="utf-8").splitlines()) == 1201
    tab.say("location.hash = '#trial-3'")
    tab.wait("document.querySelector('#trial-3').offsetHeight")
    assert (tab.say(f"{shown}.length"), tab.say("document.querySelector('.tools .all')")) == (1200, None)
    tab.go(f"{path.as_uri()}?again#trial-1111")
    assert tab.say("document.querySelector('#trial-1111').offsetHeight") > 0
    assert tab.problems == []
    tab.close()
