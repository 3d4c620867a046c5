"""What a browser does with a report: it opens, nothing goes wrong, and a reader can work with it."""

import pytest

from tests.analysis.browser import needs_browser
from tests.slow import mostly_slow

pytestmark = [pytest.mark.xdist_group("browser"), needs_browser]
ALL_DRAWN = "[...document.querySelectorAll('.plot')].every(p => p.querySelector('.main-svg'))"
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
CASES = [
    (kind, width, theme)
    for kind in ("search", "grid")
    for width in (390, 1280)
    for theme in ("light", "dark")
]


@pytest.mark.parametrize("case", mostly_slow(CASES, fast=[("search", 390, "dark"), ("grid", 1280, "light")]))
def test_it_opens_from_a_file_without_errors_requests_or_anything_cut_off(browser, written, case):
    kind, width, theme = case
    tab = browser.open(written[kind], width=width, theme=theme)
    tab.wait(ALL_DRAWN)
    assert tab.problems == []
    assert tab.say(OVERFLOWING) == []
    assert tab.say(CUT_OFF) == []
    tab.close()
