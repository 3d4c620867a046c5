import dataclasses

import pytest

from analysis.report import render
from analysis.sections.paper import along, paper_figure, paper_table, remark, with_papers_y
from tests.analysis import tabled
from tests.analysis.outline import Outline

SIMCSE = (70.0, 73.5, 68.25)
ROWS = {"SimCSE": SIMCSE, "RobustSentEmbed": SIMCSE}
PWWS = {"SimCSE": (80.0, 81.0, 82.0), "RobustSentEmbed": (60.0, 61.5, 62.0), "start": 85.0}
RATES = {
    "attack-mr/pwws/success_rate": PWWS,
    "attack-mr/bae/success_rate": {"SimCSE": (70.0, 71.0, 72.0), "RobustSentEmbed": (90.0, 91.5, 92.0)},
}


@pytest.fixture
def repeating(grid_dir, contents):
    """A grid that repeats a figure of a paper."""

    def build(name):
        found = contents(grid_dir)
        resolved = found.study.resolved | {"paper": {"table": name}}
        return dataclasses.replace(found, study=found.study.model_copy(update={"resolved": resolved}))

    return build


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("l2p-figure3", "shares of weakened words"),
        ("rse-figure4", "the map of alpha and beta"),
        ("rse-figure6", "the ticks are ours"),
    ],
)
def test_a_figure_that_is_not_drawn_here_is_spoken_of(repeating, name, words):
    assert words in remark(repeating(name), is_drawn=False)


def test_several_measures_along_an_axis_are_one_figure_and_no_figure_gets_no_word(
    repeating, search_dir, contents
):
    found = repeating("l2p-figure2")
    outline = Outline(paper_figure(found))
    assert outline.figures == ["measures"]
    alone = dataclasses.replace(found, evaluations=found.evaluations[:0])
    assert along(alone) == []
    assert "this study measures its objective alone" in Outline(paper_figure(alone)).text
    assert paper_figure(contents(search_dir)) == ""
    assert remark(repeating("rse-table5"), is_drawn=False) == ""
    assert remark(repeating(""), is_drawn=False) == ""
    assert remark(repeating("l2p-figure2"), is_drawn=True) == ""


def test_a_figure_of_an_average_over_sets_is_drawn_with_that_average(tmp_path, contents):
    names = [f"N = {number}" for number in (1, 3, 5)]
    sets = [*(f"STS{year}" for year in range(12, 17)), "STS-B", "SICK-R"]
    scores = {
        f"{name}/test/all": {row: (60.0 + place + number, 61.0 + place) for place, row in enumerate(names)}
        for number, name in enumerate(sets)
    }
    rows = dict.fromkeys(names, (70.0, 71.0))
    folder = tabled.make(tmp_path / "all", rows, paper={"table": "rse-figure5", "scale": "mini"})
    html = paper_figure(contents(tabled.add(folder, scores)))
    assert Outline(html).figures == ["paper-axis-0", "measures"]
    assert "rse-figure5: STS average over the number of steps" in Outline(html).text
    averaged, label = with_papers_y(contents(folder))
    assert label == "STS average"
    assert averaged.cells["objective"].tolist() == pytest.approx([63.0, 61.0, 64.0, 62.0, 65.0, 63.0])
    fewer = tabled.make(tmp_path / "fewer", rows, paper={"table": "rse-figure5", "scale": "mini"})
    found = contents(tabled.add(fewer, {"STS-B/test/all": scores["STS-B/test/all"]}))
    assert with_papers_y(found) == (found, found.label)


@pytest.fixture
def made(tmp_path):
    def write(scores, table="rse-table1", baseline="SimCSE"):
        evaluations = tuple(metric.rpartition("/")[0] for metric in scores)
        paper = {"table": table, "scale": "mini"}
        folder = tabled.make(tmp_path / "s", ROWS, baseline=baseline, paper=paper, evaluations=evaluations)
        return tabled.add(folder, scores)

    return write


read = tabled.comparison_of


def test_ours_and_the_papers_stand_side_by_side_in_its_layout_with_every_cell_folded_below(made, contents):
    folder = made(RATES)
    comparison = read(folder)
    html = paper_table(comparison)
    assert "<h2>Beside rse-table1</h2>" in html
    (_, folded) = html.split("<details>")
    assert "paper&#x27;s difference" in folded
    assert folded.count("<tr") == 1 + 5 + folded.count("(not trained)") == 10
    assert '<td>RobustSentEmbed</td><td class="text">PWWS</td><td>61.17 (28.05)</td>' in html
    assert '<tr class="baseline"><td>before training</td><td class="text">PWWS</td><td>85.00</td>' in html
    assert "2 differences from SimCSE: 1 same, 1 other, 0 undecided" in html
    assert "Less is better." in html
    assert html in render(contents(folder), comparison)


@pytest.mark.parametrize("table", ["rse-table1", "rse-table6"])
def test_a_study_that_measures_no_column_has_no_such_section(made, table):
    assert paper_table(read(made({}, table))) == ""
