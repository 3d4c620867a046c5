import dataclasses

import pytest

from analysis.sections.paper import along, paper_figure, remark
from tests.analysis.outline import Outline


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
    assert words in remark(repeating(name), has_lines=False)


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
    assert remark(repeating("rse-table5"), has_lines=False) == ""
    assert remark(repeating(""), has_lines=False) == ""
    assert remark(repeating("l2p-figure2"), has_lines=True) == ""
