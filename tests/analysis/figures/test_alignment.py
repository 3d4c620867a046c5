import pytest

from analysis.figures.papers import alignment_data, draw_alignment
from tests.analysis import tabled

ROWS = {"SimCSE": (60.0, 61.0), "RobustSentEmbed": (62.0, 63.0)}


@pytest.fixture
def found(tmp_path, contents):
    folder = tabled.make(tmp_path, ROWS, baseline="SimCSE")
    alignment = {"SimCSE": (0.1, 0.2), "RobustSentEmbed": (0.05, 0.06), "start": 0.3}
    uniformity = {"SimCSE": (-2.0, -2.2), "RobustSentEmbed": (-2.4, None), "start": -1.0}
    found = {"STS-B/geometry/alignment": alignment, "STS-B/geometry/uniformity": uniformity}
    return contents(tabled.add(folder, found))


def test_a_point_needs_both_numbers_and_a_study_without_geometry_has_none(found, grid_dir, contents):
    frame = alignment_data(found, found.stage("grid"))
    points = frame[["row", "kind", "alignment", "uniformity"]].values.tolist()
    assert points[0] == ["before training", "baseline", 0.3, -1.0]
    assert sorted(points[1:]) == [
        ["RobustSentEmbed", "row", 0.05, -2.4],
        ["SimCSE", "row", 0.1, -2.0],
        ["SimCSE", "row", 0.2, -2.2],
    ]
    assert set(frame["evaluation"]) == {"STS-B/geometry"}
    other = contents(grid_dir)
    assert alignment_data(other, other.stage("grid"), "rse-figure3").empty


def test_the_papers_points_stand_beside_where_the_study_repeats_its_figure(found):
    cells = found.stage("grid")
    assert "paper" not in set(alignment_data(found, cells, "rse-figure4")["kind"])
    frame = alignment_data(found, cells, "rse-figure3")
    theirs = frame[frame["kind"] == "paper"].set_index("row")
    assert theirs.loc["RobustSentEmbed", ["alignment", "uniformity"]].tolist() == [0.051, -2.295]
    traces = {trace.name: trace for trace in draw_alignment(frame).data}
    assert list(traces) == ["seeds", "SimCSE", "RobustSentEmbed", "baselines", "as the paper prints"]
    assert list(traces["SimCSE"].y) == [pytest.approx(0.15)]
    assert traces["SimCSE"].marker.symbol != traces["RobustSentEmbed"].marker.symbol
