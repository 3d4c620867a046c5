import re

import pytest

from analysis.paper.kit import figures_in, write_figures
from analysis.report import write_report
from rse_study.errors import InputError
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point
from rse_study.results.records import EvaluationRow, Measure
from tests import needs
from tests.analysis import gridded, searched
from tests.analysis.outline import Outline

HOSTILE = "</script><script>document.title='owned'</script><b>&"


pytestmark = pytest.mark.xdist_group("browser")  # the pages are written once


@pytest.fixture(scope="module")
def outlines(pages):
    return {kind: Outline(path.read_text(encoding="utf-8")) for kind, path in pages.items()}


def test_it_loads_nothing_from_anywhere(outlines):
    for outline in outlines.values():
        tags = outline.tags
        assert not [tag for tag, _ in tags if tag in ("link", "img", "iframe", "object", "embed")]
        assert not [attrs for _, attrs in tags if "src" in attrs]
        assert all(attrs["href"].startswith("#") for _, attrs in tags if "href" in attrs)
        assert [a for tag, a in tags if tag == "meta" and "default-src 'none'" in a.get("content", "")]


def test_a_search_and_a_grid_tell_their_questions_results_and_limits(outlines):
    text = outlines["search"].text
    for words in (
        searched.STUDY.title, searched.STUDY.question, "6 of 16 trials complete, 9 stopped early, 1 failed",
        "Confirmation: 4 of 4 cells complete",
        "Do not rank the search's trials by their scores: each is one run with one seed",
        "selected by this score", "Only the confirmed values are results (fresh seeds 1 and 2 on builtin/test)",
        "token overlap", "untrained encoder", "before training", "40.50", "60.25",
        "Not measured in this run: before training",
        "Trial 12: 64.80 on builtin dev, Spearman x100 after 60 steps", "6 trials cannot tell which axis matters",
        "42% saved by stopping early", "step 23: the loss is nan", "the process that ran it is gone",
        "the machine was busy", "created", "2.13.0",
    ):  # fmt: skip
        assert words in text, words
    assert all(heading in text for heading in searched.STUDY.headings)
    text = outlines["grid"].text
    for words in (
        gridded.STUDY.question, "Grid of 7 rows x 3 seeds: 19 of 21 cells complete, 1 failed, 1 to run",
        "lambda1 = 0.0078125", "base", "without weakening masks", "1.32", "65.50",
        "(n = 1)", "1 retired cell", "without the blend", "step 3: the loss is nan",
        "rows without the blend: removed", "lambda1: each pair",
    ):  # fmt: skip
        assert words in text, words
    assert not {"section-compared", "section-ablation-path", "course-0"} & {*outlines["grid"].anchors}
    assert "Do not rank" not in text
    assert "Confirmed" not in text


def test_every_figure_is_inside_and_one_row_is_the_best(outlines):
    slices = [f"slice-{number}" for number in range(8)]
    above = ["first", "differences", "history", "curves", "rungs", "importance"]
    below = ["pareto", "timeline", "reasons"]
    inside = [f"diagnostic-{number}" for number in range(7)]
    assert outlines["search"].figures == [*above, "parallel", "ranks", *slices, *inside[:2], *below]
    rows = ["axis-0", "measures"]
    assert outlines["grid"].figures == [*rows, *inside, *below]
    assert sum(attrs.get("class") == "best" for tag, attrs in outlines["search"].tags if tag == "tr") == 1
    assert not [attrs for tag, attrs in outlines["grid"].tags if attrs.get("class") == "best"]


def test_every_anchor_is_there_once_and_every_link_leads_somewhere(outlines):
    for outline in outlines.values():
        anchors = outline.anchors
        assert len(anchors) == len(set(anchors))
        links = {attrs["href"][1:] for _, attrs in outline.tags if "href" in attrs}
        assert links <= set(anchors)
        sections = [anchor for anchor in anchors if anchor.startswith("section-")]
        assert set(sections) <= links, "the list of contents names every section"
        tables = [attrs for tag, attrs in outline.tags if tag == "table"]
        assert all(attrs["id"].startswith("table-") for attrs in tables)
    assert {f"trial-{trial}" for trial in range(16)} <= {*outlines["search"].anchors}


def test_text_of_a_study_is_text(tmp_path):
    hostile = {"title": HOSTILE, "question": HOSTILE, "resolved": {"x": HOSTILE}, "evaluations": (HOSTILE,)}
    study = searched.STUDY.model_copy(update=hostile)
    row = gridded.cell(4, 0).model_copy(update={"label": HOSTILE, "stage": "grid"})
    folder = searched.make(tmp_path / "search", study=study)
    with Ledger.open(folder) as ledger:
        ledger.add_provenance({HOSTILE: HOSTILE})
        ledger.log(HOSTILE, HOSTILE)
        ledger.plan([searched.cell(7)])
        ledger.fail(searched.cell(7).identity, HOSTILE)
    grid = searched.make(tmp_path / "grid", study=gridded.STUDY)
    with Ledger.open(grid) as ledger:
        gridded.end(ledger, row, 50.0)
    for path in (folder, grid):
        html = write_report(path).read_text(encoding="utf-8")
        assert HOSTILE not in html
        assert "b" not in [tag for tag, _ in Outline(html).tags]


@pytest.mark.parametrize("kind", ["search", "grid"])
def test_geometry_has_four_decimals_and_what_a_collapsed_model_got_is_marked(tmp_path, kind):
    names = ("alignment", "uniformity")
    measures = tuple(Measure(name=f"STS-B {name}", metric=f"STS-B/geometry/{name}") for name in names)
    study = {"search": searched.STUDY, "grid": gridded.STUDY}[kind].model_copy(update={"measures": measures})
    cells = [
        searched.cell(0, seed, "confirm") if kind == "search" else gridded.cell(3, seed) for seed in (1, 2)
    ]
    row = EvaluationRow(subject="", task="STS-B", split="dev", preset="geometry", value=0, num_examples=208)
    folder = searched.make(tmp_path, study=study)
    with Ledger.open(folder) as ledger:
        for cell, values in zip(cells, ((0.23604, -3.84082), (0.2361, 0.0)), strict=True):
            searched.run(ledger, cell, "complete", (Point(t=200, metrics={"dev": 70.0}),))
            found = [{"aggregation": name, "value": value} for name, value in zip(names, values, strict=True)]
            whose = {"subject": cell.identity}
            ledger.record_evaluations(
                [row.model_copy(update=one | whose | {"degenerate": one["value"] == 0}) for one in found]
            )
    text = Outline(write_report(folder).read_text(encoding="utf-8")).text
    for words in (
        "0.2360",
        "0.2361",
        "\N{MINUS SIGN}3.8408",
        "0.0000 \u2020",
        "\N{MINUS SIGN}1.9204 \u2020",
        "\u2020 Degenerate: ",
    ):
        assert words in text, words


def test_a_report_is_a_function_of_the_ledger(search_dir, pages, tmp_path):
    again = write_report(search_dir, tmp_path / "deep/two.html")
    assert again.read_bytes() == pages["search"].read_bytes()


# Figures of a page as files: what the page shows, under its names; a clear word where there is no browser.


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
