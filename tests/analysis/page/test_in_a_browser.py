"""What a browser does with a report: it opens, nothing goes wrong, and a reader can work with it."""

import csv
import re

import pytest

from analysis.report import write_report
from rse_study.results.files.ledger import Ledger
from tests import needs
from tests.analysis import gridded, searched, tabled
from tests.analysis.browser import saved
from tests.slow import mostly_slow

pytestmark = [pytest.mark.xdist_group("browser"), needs.programs("chromium")]
ALL_DRAWN = "[...document.querySelectorAll('.plot')].every(plot => plot.querySelector('.main-svg'))"
OVERFLOWING = """(() => {
  const edge = document.documentElement.clientWidth + 1;
  const inside = found => found.closest('.scroll, pre, .skip') && !found.matches('.scroll, pre');
  return [...document.querySelectorAll('body *')].filter(found => !inside(found) && !found.closest('svg'))
    .filter(found => { const box = found.getBoundingClientRect();
      return box.width && box.height && (box.right > edge || box.left < -1); })
    .map(found => `${found.tagName}#${found.id}.${found.className}`);
})()"""
CUT_OFF = """[...document.querySelectorAll('.plot')].flatMap(plot => {
  const edge = plot.getBoundingClientRect();
  return [...plot.querySelectorAll('text')].filter(text => {
    const box = text.getBoundingClientRect();
    return box.width && (box.left < edge.left - 2 || box.right > edge.right + 2 || box.top < edge.top - 2
      || box.bottom > edge.bottom + 2);
  }).map(text => `${plot.id}: ${text.textContent}`);
})"""
CROWDED = """[...document.querySelectorAll('.plot')].flatMap(plot => {
  const texts = [...plot.querySelectorAll('.main-svg text')]
    .filter(text => text.textContent.trim() && !text.closest('.dropdown-button-group'))
    .filter(text => text.style.visibility !== 'hidden')
    .map(text => [text.textContent, text.getBoundingClientRect()]).filter(([, box]) => box.width);
  return texts.flatMap(([one, a], place) => texts.slice(place + 1).filter(([, b]) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4).map(([other]) => `${plot.id}: ${one} / ${other}`));
})"""
FEW = [("search", 390, "dark"), ("grid", 1280, "light"), ("many", 390, "light")]
CASES = [*FEW, ("search", 1280, "light"), ("grid", 390, "dark"), ("many", 1280, "dark")]
"""of kind, width and theme any two together"""
COLUMN = (
    "[...document.querySelectorAll('#table-trials tbody tr')].filter(row => !row.hidden)"
    ".map(row => row.cells[%d].firstChild?.textContent.trim() ?? '')"
)
FIRST = """(() => {
  const box = document.querySelector('#first')?.getBoundingClientRect();
  return box ? [box.top, box.bottom] : [0, 0];
})()"""
LOW = """[...document.querySelectorAll('button, select, input:not([type=checkbox]), summary')]
    .filter(one => one.offsetHeight && one.offsetHeight < 24).map(one => one.outerHTML.slice(0, 60))"""
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"


@pytest.mark.parametrize("case", mostly_slow(CASES, fast=FEW))
def test_it_opens_from_a_file_without_errors_requests_or_anything_cut_off(browser, written, case):
    kind, width, theme = case
    tab = browser.open(written[kind], width=width, theme=theme)
    tab.wait(ALL_DRAWN)
    assert tab.problems == []
    assert tab.say(OVERFLOWING) == []
    assert tab.say(CUT_OFF) == []
    assert tab.say(CROWDED) == [], "texts that stand on each other"
    top, bottom = tab.say(FIRST)
    assert bottom <= 900 if width == 1280 else top <= 844, "the first figure stands on the first screen"
    assert tab.say(LOW) == [], "controls are at least 24 px high"
    tab.close()


def test_compared_fits_a_narrow_screen_until_all_columns_are_asked_for(browser, tmp_path):
    rows = {"SimCSE": (61.0, 61.5, 60.7, 61.2), "RobustSentEmbed": (63.0, 63.9, 62.2, 63.5)}
    folder = tabled.make(tmp_path / "study", rows, baseline="SimCSE")
    box = "document.querySelector('#table-compared').parentElement"
    overflow = f"{box}.scrollWidth - {box}.clientWidth"
    tab = browser.open(write_report(folder, tmp_path / "page.html"), width=390)
    tab.wait("document.querySelector('#table-compared.brief')")
    assert tab.say(overflow) == 0
    tab.click("#section-compared .tools:has(+ .scroll) button")
    assert tab.say(overflow) > 0
    tab.close()


@pytest.fixture(scope="module")
def tab(browser, written):
    """The search's report, for one reader after another: each leaves it as it was."""
    opened = browser.open(written["search"])
    opened.wait(ALL_DRAWN)
    yield opened
    assert opened.problems == []
    opened.close()


def test_a_heading_sorts_numbers_as_numbers_those_in_parentheses_and_times_too(tab):
    before = tab.say(COLUMN % 6)
    assert "" in before, "baselines have no N"
    tab.click("#table-trials th:nth-child(7) button")
    upwards = tab.say(COLUMN % 6)
    assert tab.say("document.querySelector('#table-trials th:nth-child(7)').ariaSort") == "ascending"
    numbers = [float(text) for text in upwards if text]
    assert numbers == sorted(numbers)
    assert upwards[len(numbers) :] == [""] * (len(upwards) - len(numbers))
    tab.click("#table-trials th:nth-child(7) button")
    downwards = tab.say(COLUMN % 6)
    assert [float(text) for text in downwards if text] == sorted(numbers, reverse=True)
    assert not downwards[-1]
    tab.click("#table-trials th:nth-child(7) button")
    assert tab.say(COLUMN % 6) == before
    assert tab.say("document.querySelector('#table-trials th:nth-child(7)').ariaSort") is None
    for column in (2, 13):
        tab.click(f"#table-trials th:nth-child({column}) button")
    times = [text for text in tab.say(COLUMN % 12) if text]
    seconds = [float(re.match(r"[\d.]+", text).group()) for text in times]
    assert seconds == sorted(seconds)
    tab.click("#table-trials th:nth-child(2) button")
    found = [text.strip("()") for text in tab.say(COLUMN % 1)]
    numbers = [float(text) for text in found if text[:1].isdigit()]
    assert numbers == sorted(numbers)
    assert found[-1] == "not measured"
    for _ in range(2):
        tab.click("#table-trials th:nth-child(2) button")


def test_words_filter_rows_and_the_download_holds_what_is_left(tab, tmp_path):
    field = (
        "document.querySelector('#table-trials').parentElement.previousElementSibling.querySelector('input')"
    )
    tab.say(f"{field}.focus()")
    tab.send("Input.insertText", text="STOPPED linf")
    left = tab.say(COLUMN % 3)
    assert left
    assert set(left) == {"stopped early"}
    assert tab.say(f"{field}.nextElementSibling.textContent") == f"{len(left)} of 19"
    tab.download_to(tmp_path)
    tab.click("[title='Download the table trials as CSV']")
    with saved(tmp_path, "trials.csv").open(newline="", encoding="utf-8") as lines:
        heading, *rows = csv.reader(lines)
    assert heading[:4] == ["trial", "builtin dev, Spearman x100", "step", "status"]
    assert [row[3] for row in rows] == left
    assert rows[0][0].isdigit(), "without the sign of its link"
    tab.say(f"{field}.value = ''; {field}.dispatchEvent(new Event('input'))")
    assert len(tab.say(COLUMN % 3)) == 19


def test_a_filter_compares_numbers_and_two_ticked_trials_show_their_difference(tab):
    field = (
        "document.querySelector('#table-trials').parentElement.previousElementSibling.querySelector('input')"
    )
    tab.say(f"{field}.focus()")
    tab.send("Input.insertText", text="N>6 norm=linf")
    assert tab.say(COLUMN % 6), "some trial is left"
    assert all(float(text) > 6 for text in tab.say(COLUMN % 6))
    assert set(tab.say(COLUMN % 7)) == {"linf"}
    tab.say(f"{field}.value = ''; {field}.dispatchEvent(new Event('input'))")
    for trial in (12, 0):
        tab.click(f"#trial-{trial} input")
    rows = tab.say(
        "[...document.querySelectorAll('table.difference tr')].map(row => [...row.cells].map(one => one.textContent))"
    )
    assert rows[0] == ["trial", "12 *", "0 (base)"]
    assert len(rows) > 2
    assert all(here != there for _, here, there in rows)
    for trial in (12, 0):
        tab.click(f"#trial-{trial} input")
    assert not tab.say("document.querySelector('table.difference')")


def test_a_figure_is_saved_as_svg_png_and_its_numbers(tab, tmp_path):
    tab.download_to(tmp_path)
    for kind, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        tab.click(f"[title='Download history as {kind}']")
        assert saved(tmp_path, f"history.{kind.lower()}").read_bytes().startswith(start)
    tab.click("[title='Download the numbers of history']")
    lines = saved(tmp_path, "history.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 16


def test_a_section_folds_and_a_link_or_the_list_of_contents_opens_and_leads(tab):
    is_open = "document.querySelector('#section-cost > details').open"
    tab.click("#section-cost > details > summary > h2")
    assert not tab.say(is_open)
    tab.say("document.querySelector('#section-cost > details > summary').focus()")
    tab.press("Enter", 13, "\r")
    assert tab.say(is_open)
    tab.say("document.querySelector('#section-trials > details').open = false")
    tab.say("location.hash = '#trial-7'")
    tab.wait("document.querySelector('#section-trials > details').open")
    tab.wait("document.querySelector('#trial-7').matches(':target')")
    assert tab.say("document.querySelector('#trial-7 .link').hash") == "#trial-7"
    top = tab.say("document.querySelector('#trial-7').getBoundingClientRect().top")
    assert 0 <= top < 900
    names = tab.say("[...document.querySelectorAll('nav.contents a')].map(link => link.hash)")
    assert names == tab.say("[...document.querySelectorAll('main > section')].map(one => `#${one.id}`)")
    tab.click("nav.contents a[href='#section-provenance']")
    tab.wait("scrollY > 1000")
    assert tab.say("document.querySelector('nav.contents').getBoundingClientRect().top") >= 0


def test_texts_of_a_study_run_nothing(browser, tmp_path):
    study = gridded.STUDY.model_copy(update={"name": HOSTILE, "title": HOSTILE, "question": HOSTILE})
    folder = searched.make(tmp_path, study=study)
    with Ledger.open(folder) as ledger:
        for seed in range(3):
            row = gridded.cell(4, seed).model_copy(update={"label": HOSTILE})
            gridded.end(ledger, row, 50.0 + seed)
        ledger.log(HOSTILE, HOSTILE)
    tab = browser.open(write_report(folder))
    tab.wait(ALL_DRAWN)
    assert tab.say("document.title") == HOSTILE
    assert tab.say("document.querySelector('h1').textContent") == HOSTILE
    assert tab.say("document.querySelectorAll('img[src=x]').length") == 0
    assert tab.problems == []
    assert [one for one in browser.events if one["method"] == "Page.javascriptDialogOpening"] == []
    tab.close()
