"""Figures of a page as files: what the page shows, under its names; a clear word where there is no browser."""

import re

import pytest

from analysis.paper.kit import figures_in, write_figures
from rse_study.errors import InputError
from tests import needs

pytestmark = pytest.mark.xdist_group("browser")  # the pages are written once


@pytest.fixture(scope="module")
def html(pages):
    return pages["search"].read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def few(html):
    """Two figures of the page: reading all of them takes a second."""
    parts = re.findall(r"<figure.*?</figure>", html, re.DOTALL)
    return "".join(part for part in parts if re.search('id="figure-(history|curves)"', part))


def test_every_figure_of_the_page_is_found_under_its_name(html):
    figures = figures_in(html)
    assert list(figures) == re.findall(r'<figure class="figure" id="figure-([^"]+)"', html)
    assert len(figures) > 8
    history = figures["history"]
    assert "best so far" in [trace.name for trace in history.data]
    assert history.layout.template.layout.paper_bgcolor == "white"  # as on paper, whatever the page's theme


@needs.programs("chromium")
@pytest.mark.parametrize(
    ("kind", "start"), [("svg", b"<svg"), pytest.param("png", b"\x89PNG", marks=pytest.mark.slow)]
)
def test_a_browser_draws_them(few, tmp_path, kind, start):
    paths = write_figures(few, tmp_path / "deep", kind)
    assert [path.name for path in paths] == [f"history.{kind}", f"curves.{kind}"]
    content = paths[0].read_bytes()
    assert content.startswith(start)
    assert kind == "png" or b"best so far" in content


@pytest.mark.parametrize("browser", ["/nowhere/chromium", "/bin/false"])
def test_a_missing_browser_is_said_with_its_remedy(few, tmp_path, monkeypatch, browser):
    monkeypatch.setenv("BROWSER_PATH", browser)
    with pytest.raises(InputError, match="Install one, or name it in BROWSER_PATH"):
        write_figures(few, tmp_path, "png")


def test_a_missing_kaleido_is_said_and_a_page_without_figures_gives_no_files(tmp_path, few, monkeypatch):
    assert write_figures("<p>nothing</p>", tmp_path, "svg") == []
    monkeypatch.setattr("analysis.paper.kit.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'rse-study\[images\]'"):
        write_figures(few, tmp_path, "png")
