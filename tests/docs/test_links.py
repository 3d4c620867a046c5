"""Links of pages, and the index of results."""

import re

from tests.docs.shell import ROOT

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


def links_of(page):
    return [link for link in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link]


def test_every_link_to_a_file_leads_to_one():
    links = [(page, link) for page in PAGES for link in links_of(page)]
    assert len(links) > 200
    assert not [f"{page.name}: {link}" for page, link in links if not (page.parent / link).exists()]


def test_every_page_of_results_is_on_their_index():
    results = ROOT / "docs" / "results"
    index = {results / link for link in links_of(results / "README.md")}
    pages = {page for page in results.rglob("*.md") if page.parent == results or page.name == "README.md"}
    assert pages - index == {results / "README.md"}
