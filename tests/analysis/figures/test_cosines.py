import dataclasses

import pandas as pd
import pytest

from analysis.figures.papers import cosines_data


@pytest.fixture
def reporting(grid_dir, contents):
    """A grid whose first two rows report cosines."""
    found = contents(grid_dir)
    cells = found.cells[found.cells["trial"] < 2]
    rows = [
        (cell, t, name, value + t / 1000 + place / 100)
        for place, cell in enumerate(cells["identity"])
        for t in (100, 200)
        for name, value in (("cosine/positive", 0.6), ("cosine/random", 0.1))
    ]
    diagnostics = pd.DataFrame(rows, columns=["cell", "t", "name", "value"])
    return dataclasses.replace(found, diagnostics=diagnostics, cells=cells)


def test_cosines_are_those_of_the_last_step_beside_the_papers(reporting, grid_dir, contents):
    frame = cosines_data(reporting)
    ours = frame[(frame["source"] == "ours") & (frame["pairs"] == "positive")]
    assert len(ours) == 6
    assert ours["mean"].iloc[0] == pytest.approx(
        0.81
    )  # 0.8 at step 200, and three seeds 0, 1 and 2 hundredths up
    theirs = frame[(frame["source"] == "the paper's") & (frame["row"] == "norm = power, weight = 1")]
    assert theirs.set_index("pairs")["value"].to_dict() == {"positive": 0.9842, "random": 0.7904}
    assert cosines_data(contents(grid_dir)).empty
