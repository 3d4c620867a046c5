import dataclasses

import pandas as pd
import pytest

from analysis.figures.papers import cosines_data, plane_data
from tests.analysis import tabled

KINDS = ("synonyms", "adversarial")


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
