import pytest

from analysis.figures.plane import draw_plane, plane_data
from analysis.sections.paper_figure import paper_figure
from tests.analysis import tabled
from tests.analysis.outline import Outline

KINDS = ("synonyms", "adversarial")


@pytest.fixture
def placed(tmp_path, contents):
    """Two rows on two seeds and BERT, each with two sentences in the plane; the second seed comes first in the file."""
    folder = tabled.make(
        tmp_path / "s", {"DCL": (60.0, 61.0), "other": (62.0, 63.0)}, evaluations=("STS-B/t-sne",)
    )
    found = {}
    for pair in (0, 1):
        for shift, end in enumerate(("", *(f" {kind}" for kind in KINDS))):
            for axis, at in (("x", pair), ("y", 10 * pair)):
                rows = {
                    "DCL": (at + shift, -1.0),
                    "other": (at + shift + 0.5, -1.0),
                    "start": at + shift + 0.25,
                }
                found[f"STS-B/t-sne/{axis} {pair}{end}"] = rows
    found["STS-B/t-sne/closeness synonyms"] = {"DCL": (9.0, 9.0), "start": 5.0}
    return contents(tabled.add(folder, found))


def test_a_panel_is_a_kind_and_a_model_with_the_first_seed_alone(placed, grid_dir, contents):
    frame = plane_data(placed, placed.stage("grid"))
    names = [f"{name}, {kind}" for kind in KINDS for name in ("before training", "DCL", "other")]
    assert set(frame["panel"]) == {*names}
    assert (frame["panel"].value_counts() == 4).all()
    part = frame[frame["panel"] == "DCL, adversarial"]
    assert part[["pair", "version", "x", "y"]].values.tolist() == [
        [0, "", 0.0, 0.0], [0, "adversarial", 2.0, 2.0], [1, "", 1.0, 10.0], [1, "adversarial", 3.0, 12.0],
    ]  # fmt: skip
    other = contents(grid_dir)
    assert plane_data(other, other.stage("grid")).empty


def test_a_line_joins_a_sentence_and_its_version(placed):
    frame = plane_data(placed, placed.stage("grid"))
    figure = draw_plane(frame[frame["panel"] == "DCL, synonyms"])
    lines, *marks = figure.data
    assert list(lines.x) == [0.0, 1.0, None, 1.0, 2.0, None]
    assert [trace.name for trace in marks] == ["sentence", "synonyms"]
    assert [list(trace.y) for trace in marks] == [[0.0, 10.0], [1.0, 11.0]]
    outline = Outline(paper_figure(placed))
    assert outline.figures == [f"plane-{number}" for number in range(6)]
    assert "figure 2 of DCL" in outline.text
