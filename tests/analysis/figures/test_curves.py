import math

import pandas as pd
import pytest

from analysis.contents import is_watched
from analysis.figures.curves import bands_data, course_data, draw_bands
from analysis.report import write_report
from analysis.sections.results import course
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point
from tests.analysis import gridded, searched
from tests.analysis.outline import Outline

ALIGNMENT, ACCURACY = "STS-B/geometry/alignment", "robust/accuracy"
ROWS = [("a1", "full", 1), ("a2", "full", 2), ("b1", "without", 1), ("b2", "without", 2)]
STATUS = ["complete", "complete", "complete", "failed"]
CELLS = pd.DataFrame(ROWS, columns=["identity", "name", "seed"]).assign(status=STATUS)
SEEN = [("a1", 10, 1.0), ("a1", 20, 3.0), ("a2", 10, 3.0), ("a1", 30, 4.0), ("b1", 10, 5.0), ("b2", 10, 9.0)]
POINTS = pd.DataFrame([*SEEN, ("a2", 30, float("inf"))], columns=["cell", "t", "value"])


def metrics(trial: int, seed: int, t: int) -> dict[str, float]:
    """`dev` every 10 steps, alignment every 20 (not defined at first), what is replayed with dev."""
    found = {"dev": 60.0 + t, "loss": 1.0, ACCURACY: 50.0 + seed, "robust/degenerate": 0.0}
    if t % 20 == 0:
        found[ALIGNMENT] = math.nan if t == 0 else 0.1 * trial + 0.01 * seed + t / 1000
    return found


@pytest.fixture(scope="module")
def watched_dir(tmp_path_factory):
    """The first four rows of the grid on two seeds; the second seed of the last one lost its loss at step 20."""
    base = {"base": {"watched": {"STS-B/geometry": 20}}}
    folder = tmp_path_factory.mktemp("ledgers") / "watched"
    with Ledger.open(folder) as ledger:
        ledger.freeze(gridded.STUDY.model_copy(update={"resolved": gridded.STUDY.resolved | base}))
        cells = {(trial, seed): gridded.cell(trial, seed) for trial in range(4) for seed in range(2)}
        ledger.plan(cells.values())
        for (trial, seed), record in cells.items():
            last, status = (20, "failed") if (trial, seed) == (3, 1) else (40, "complete")
            points = tuple(Point(t=t, metrics=metrics(trial, seed, t)) for t in range(0, last + 1, 10))
            searched.run(ledger, record, status, points)
    return folder


def test_every_cell_is_a_line_as_far_as_it_came_and_the_objective_is_drawn_elsewhere(watched_dir, contents):
    frame = course_data(contents(watched_dir), ALIGNMENT)
    assert frame.groupby(["series", "seed"], sort=False)["t"].apply(list).to_dict() == {
        (series, seed): [20, 40] if (series, seed) != ("base", 1) else [20]
        for series in ("lambda1 = 0.000976562", "lambda1 = 0.0078125", "lambda1 = 0.125", "base")
        for seed in (0, 1)
    }
    assert frame["value"].tolist()[:4] == pytest.approx([0.02, 0.04, 0.03, 0.05])
    assert frame.loc[frame["is_base"], "series"].unique().tolist() == ["base"]
    assert len(course_data(contents(watched_dir), ACCURACY)) == 7 * 5 + 3
    found = contents(watched_dir)
    assert set(found.course["name"]) == {ALIGNMENT, ACCURACY}
    by_accuracy = found.study.objective.model_copy(update={"metric": ACCURACY})
    study = found.study.model_copy(update={"objective": by_accuracy})
    assert is_watched(study, ALIGNMENT) and not is_watched(study, ACCURACY)
    assert not is_watched(study, "dev") and not is_watched(study, "loss")


def test_a_report_has_a_figure_per_watched_metric_and_else_no_such_section(
    watched_dir, tmp_path, grid_dir, search_dir, contents
):
    outline = Outline(write_report(watched_dir, tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "In the course of training" in outline.text
    assert [name for name in outline.figures if name.startswith("course")] == ["course-0", "course-1"]
    assert course(contents(grid_dir)) == course(contents(search_dir)) == ""


def test_means_are_of_steps_that_all_seeds_have():
    frame = bands_data(CELLS, POINTS)
    assert frame["row"].tolist() == ["full", "full", "full", "full", "without"]
    first = frame[(frame["row"] == "full") & (frame["t"] == 10)].iloc[0]
    assert (first["mean"], first["num_seeds"]) == (2.0, 2)
    assert first["high"] - first["mean"] == pytest.approx(2**0.5)
    assert frame.loc[frame["t"] > 10, "mean"].isna().all()
    assert frame.loc[frame["row"] == "without", "mean"].tolist() == [5.0]


def test_few_rows_have_colours_a_band_and_their_seeds_and_of_many_one_is_chosen():
    figure = draw_bands(bands_data(CELLS, POINTS), "dev")
    assert [trace.legendgroup for trace in figure.data] == ["full", "full", "full", "without"]
    assert figure.data[0].fill == "toself"
    assert [trace.name for trace in figure.data if trace.showlegend is not False] == ["full", "without"]
    assert figure.data[2].line.color != figure.data[3].line.color
    assert not figure.layout.updatemenus
    parts = [bands_data(CELLS, POINTS).assign(row=f"row {number}") for number in range(9)]
    figure = draw_bands(pd.concat(parts), "dev")
    (menu,) = figure.layout.updatemenus
    assert len(menu.buttons) == 9
    assert figure.data[0].name == "means of all rows"
    assert {trace.legendgroup for trace in figure.data[1:] if trace.visible} == {"row 0"}
    assert sum(menu.buttons[8].args[0]["visible"]) == 1 + sum(t.legendgroup == "row 8" for t in figure.data)
