import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from analysis.report import write_report
from rse_study.results.ledger import Ledger

HOSTILE = "</script><script>document.title='owned'</script><b>&"


class Outline(HTMLParser):
    """Tags with their attributes, and the text outside scripts and styles."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text, self._silent = [], "", False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._silent = tag in ("script", "style")

    def handle_endtag(self, tag):
        self._silent = False

    def handle_data(self, data):
        self.text += "" if self._silent else data


@pytest.fixture
def outline(study_dir):
    return Outline(write_report(study_dir).read_text(encoding="utf-8"))


def test_it_loads_nothing_from_anywhere(outline):
    assert not [tag for tag, _ in outline.tags if tag in ("link", "img", "iframe", "object", "embed")]
    assert not [attrs for _, attrs in outline.tags if "src" in attrs or "href" in attrs]
    assert [a for tag, a in outline.tags if tag == "meta" and "default-src 'none'" in a.get("content", "")]


def test_it_tells_question_trials_baselines_and_its_limits(outline, study):
    text = re.sub(r"\s+", " ", outline.text)
    for words in (
        study.title, study.question, "5 of 8 trials complete", "5 trials rank nothing", "selected on the very score",
        "token overlap", "untrained encoder", "before training", "58.10", "54.25",
        "Not measured in this run: before training", "step 41: loss is nan", "2 min 30 s", "2.13.0",
    ):  # fmt: skip
        assert words in text, words
    assert all(heading in text for heading in study.headings)


def test_there_is_a_figure_per_axis_and_one_row_marked(outline, study):
    ids = [attrs["id"] for tag, attrs in outline.tags if tag == "div" and "id" in attrs]
    assert ids == ["history", *(f"slice-{number}" for number in range(len(study.axes)))]
    assert sum(attrs.get("class") == "best" for tag, attrs in outline.tags if tag == "tr") == 1


def test_text_of_a_study_is_text(refill, study):
    folder = refill(
        study.model_copy(update={"title": HOSTILE, "question": HOSTILE, "resolved": {"x": HOSTILE}})
    )
    with Ledger.open(folder) as ledger:
        ledger.fail(f"{7:064x}", HOSTILE)
        ledger.add_provenance({HOSTILE: HOSTILE})
    html = write_report(folder).read_text(encoding="utf-8")
    assert HOSTILE not in html
    assert "b" not in [tag for tag, _ in Outline(html).tags]


def test_a_report_is_a_function_of_the_ledger(study_dir, tmp_path):
    first = write_report(study_dir, tmp_path / "deep/one.html").read_bytes()
    assert write_report(study_dir, tmp_path / "two.html").read_bytes() == first


def test_a_study_without_results_has_a_report(tmp_path, study):
    with Ledger.open(tmp_path) as ledger:
        ledger.freeze(study)
    assert "0 of 8 trials complete" in write_report(tmp_path).read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs chromium")
@pytest.mark.parametrize("width", [1280, 500])
def test_it_opens_in_a_browser_without_sideways_scrolling(study_dir, tmp_path, width):
    """The page says itself how wide it is and how many figures were drawn."""
    path = write_report(study_dir)
    probe = (
        "<script>addEventListener('load', () => setTimeout(() => { const root = document.documentElement;"
        "const plots = [...document.querySelectorAll('.js-plotly-plot')];"
        "const drawn = plots.filter(plot => plot.querySelector('.point'));"
        "document.title = [root.scrollWidth <= root.clientWidth, drawn.length] }, 1500))</script></body>"
    )
    path.write_text(path.read_text(encoding="utf-8").replace("</body>", probe), encoding="utf-8")
    switches = [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", "--no-first-run", "--virtual-time-budget=8000",
    ]  # fmt: skip
    command = [
        "chromium",
        *switches,
        f"--user-data-dir={tmp_path}/profile",
        f"--window-size={width},900",
        "--dump-dom",
    ]
    dom = subprocess.run(
        [*command, path.as_uri()], capture_output=True, text=True, timeout=120, check=True
    ).stdout
    title = re.search(r"<title>(.*?)</title>", dom[:5000]).group(1)
    assert title == "true,9"
