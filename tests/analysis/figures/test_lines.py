import dataclasses

import pytest

from analysis.figures.lines import lines_data
from rse_study.results.study_record import AxisRecord

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
