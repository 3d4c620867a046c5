import dataclasses

import pytest

from analysis.figures.lines import draw_heat, heat_data
from rse_study.results.study_record import AxisRecord

NORM = AxisRecord(name="norm", symbol="P", paths=("b",), kind="choice", choices=("l1", "l2"))


@pytest.fixture
def crossed(grid_dir, contents):
    """The grid's contents with a second axis: the even seeds in l1, the odd ones in l2."""
    found = contents(grid_dir)
    study = found.study.model_copy(update={"axes": (*found.study.axes, NORM)})
    proposals = [
        {**proposal, "norm": NORM.choices[seed % 2]}
        for proposal, seed in zip(found.cells["proposal"], found.cells["seed"], strict=True)
    ]
    return dataclasses.replace(found, study=study, cells=found.cells.assign(proposal=proposals))


def test_every_combination_is_a_field_and_the_map_holds_the_means_in_the_order_of_the_file(
    crossed, grid_dir, contents
):
    frame = heat_data(crossed)
    assert frame[["x", "y", "mean", "num_seeds"]].values.tolist() == [
        ["0.000977", "l1", 71.0, 2], ["0.000977", "l2", 71.0, 1],
        ["0.00781", "l1", 74.5, 2], ["0.00781", "l2", 74.0, 1],
        ["0.125", "l1", 63.5, 2], ["0.125", "l2", 65.0, 1],
    ]  # fmt: skip
    drawn = draw_heat(heat_data(crossed), ("lambda1", "P"), "STS-B dev")
    field = drawn.data[0]
    assert list(field.x) == ["0.000977", "0.00781", "0.125"]
    assert field.z.tolist() == [[71.0, 74.5, 63.5], [71.0, 74.0, 65.0]]
    assert field.text[0][1].startswith("74.50 (SD ")
    assert drawn.layout.xaxis.title.text == "lambda1"
    assert (drawn.layout.xaxis.type, drawn.layout.yaxis.type) == ("category", "category")
    assert heat_data(contents(grid_dir)).empty
