import dataclasses

import pytest

from analysis.figures.lines import (
    draw_measures,
    lines_data,
    measures_data,
    positions,
    scale_of,
    tick_angle,
    x_axis,
)
from rse_study.results.study_record import AxisRecord
from tests.cases import cases

NORM = AxisRecord(name="norm", paths=("b",), kind="choice", choices=("l1", "l2"))


@pytest.fixture
def found(grid_dir, contents):
    return contents(grid_dir)


def crossed(found, others):
    """The grid's contents with a second axis: `others` in turn."""
    study = found.study.model_copy(update={"axes": (*found.study.axes, NORM)})
    proposal = [{**p, "norm": others[n % len(others)]} for n, p in enumerate(found.cells["proposal"])]
    cells = found.cells.assign(proposal=proposal)
    return dataclasses.replace(found, study=study, cells=cells)


def test_lines_go_through_the_combinations_of_other_axes_that_are_few(found):
    frame = lines_data(found, found.study.axes[0])
    assert frame.drop_duplicates("x")[["x", "mean"]].values.tolist() == [
        [1 / 1024, 71.0], [1 / 128, pytest.approx(223 / 3)], [1 / 8, 64.0],
    ]  # fmt: skip
    assert frame["series"].unique().tolist() == [""]
    assert len(frame) == 9
    both = crossed(found, ["l1", "l2"])
    assert set(lines_data(both, both.study.axes[0])["series"]) == {"norm = l1", "norm = l2"}
    many = crossed(found, [f"l{number}" for number in range(9)])
    assert lines_data(many, many.study.axes[0]).empty
    assert lines_data(many, NORM).empty
    alone = dataclasses.replace(found, cells=found.cells[found.cells["trial"] == 0])
    assert lines_data(alone, found.study.axes[0]).empty
    assert lines_data(dataclasses.replace(found, cells=found.cells[:0]), found.study.axes[0]).empty


@cases(
    ("values", "scale"),
    [
        ([0.1, 0.2, 0.3, 0.9], "linear"),
        (list(range(1, 17)), "linear"),
        ([1, 2, 4, 16], "log"),
        ([1 / 1024, 1 / 128, 1 / 16], "log"),
        ([-1, 0, 1], "linear"),
        ([3.0], "linear"),
        ([1 / 1024, 1 / 512, 1 / 256, 1 / 128, 1 / 64, 1 / 32, 1 / 16], "log"),
        ([1, 100], "log"),
        ([0, 1 / 1024, 1 / 128, 1 / 16], "category"),
        ([0, 1e-3, 1], "category"),
        ([0, 0.5, 1], "linear"),
        ([-1e-3, 1e-3, 1], "category"),
    ],
)
def test_the_scale_keeps_values_apart(values, scale):
    assert scale_of(values) == scale
    assert scale_of(values[::-1] + values) == scale


def test_values_that_look_alike_are_two_categories_and_texts_that_do_not_fit_stand_upright():
    values = [0.0, 0.00976562, 0.00976563, 9.0]
    axis = x_axis(values, "category")
    assert axis["categoryarray"] == positions(values, "category")
    assert len(set(axis["categoryarray"])) == 4
    assert axis["ticktext"] == ["0", "0.00977", "0.00977", "9"]
    assert scale_of([1, 2, 3], is_log=True) == "log"
    assert scale_of([0, 1, 2], is_log=True) == "category"
    assert tick_angle(["0.1", "0.2", "0.3"]) == 0
    assert tick_angle(["0.000977", "0.00391", "0.00781", "0.0312"], [-10, -8, -7, -5]) == 90
    assert tick_angle(["one"]) == 0
    assert x_axis([0, 0.02, 0.05, 0.1, 0.2, 0.3], "linear")["tickangle"] == 90
    assert x_axis([1, 3, 5], "log")["tickangle"] == 0


def test_each_measure_is_a_line_over_the_one_axis_and_one_measure_makes_no_figure(grid_dir, contents):
    found = contents(grid_dir)
    frame = measures_data(found, found.study.axes[0])
    assert list(dict.fromkeys(frame["measure"])) == ["STS-B dev, Spearman x100", "STS-B/test", "STS12/test"]
    assert sorted(set(frame["x"])) == [1 / 1024, 1 / 128, 1 / 8]
    test = frame[(frame["measure"] == "STS-B/test") & (frame["x"] == 1 / 1024)]
    assert set(test["mean"]) == {70.5}
    figure = draw_measures(frame, "lambda1", found.decimals_by_measure, is_log=True)
    expected = list(dict.fromkeys(frame["measure"]))
    assert [trace.name for trace in figure.data if trace.showlegend is not False] == expected
    assert figure.layout.xaxis.type == "log"
    axis = found.study.axes[0]
    alone = dataclasses.replace(found, evaluations=found.evaluations[:0])
    assert measures_data(alone, axis).empty
    update = {"axes": (axis, axis.model_copy(update={"name": "rho", "symbol": "rho"}))}
    two = found.study.model_copy(update=update)
    assert measures_data(dataclasses.replace(found, study=two), axis).empty
