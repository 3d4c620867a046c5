import dataclasses

import pandas as pd
import pytest

from analysis.contents import names, read_contents, with_last_values
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point
from rse_study.results.reader import Reader
from rse_study.results.records import Measure
from rse_study.results.study_record import AxisRecord, ObjectiveRecord, StudyRecord
from tests.analysis import gridded
from tests.analysis.searched import run

AXES = (
    AxisRecord(name="num", symbol="N", paths=("a",), kind="choice", choices=(1, 2)),
    AxisRecord(name="norm", paths=("b",), kind="choice", choices=("l1", "l2")),
)


@pytest.fixture
def cells():
    return pd.DataFrame(
        {
            "identity": ["a", "b", "c", "d", "e"],
            "trial": [0, 0, 1, 2, 3],
            "label": ["base", "base", "", "twice", "twice"],
            "proposal": [{}, {}, {"num": 2, "norm": "l1"}, {"num": 1, "norm": "l2"}, {}],
            "retired": [False, False, False, False, False],
        }
    )


def study(kind):
    return StudyRecord(name="x", objective=ObjectiveRecord(metric="dev"), axes=AXES, kind=kind)


def test_a_cell_stands_where_its_last_step_is(cells):
    last = pd.DataFrame({"t": [20, 5], "value": [3.0, 1.0]}, index=["a", "b"])
    table = with_last_values(study("search"), cells, last)
    assert table["objective"].fillna(-1).tolist() == [3.0, 1.0, -1, -1, -1]
    assert table["t"].fillna(-1).tolist() == [20, 5, -1, -1, -1]


def test_trials_go_by_number_rows_by_label_or_values_and_never_like_another(cells):
    assert names(study("search"), cells)[:3] == ["0 (base)", "0 (base)", "1"]
    assert names(study("grid"), cells) == [
        "base", "base", "num = 2, norm = l1", "twice (trial 2)", "twice (trial 3)",
    ]  # fmt: skip
    cells["retired"] = [False, False, False, False, True]
    assert names(study("grid"), cells)[3] == "twice"
    cells["label"] = "token overlap"
    assert names(study("grid"), cells)[0] == "token overlap (trial 0)"


def test_everything_of_a_ledger_is_there_retired_cells_apart(grid_dir, contents):
    found = contents(grid_dir)
    assert (len(found.cells), len(found.current), len(found.stage("grid"))) == (22, 21, 21)
    retired = found.cells[found.cells["retired"]]
    assert retired["name"].tolist() == ["without the blend"]
    assert retired["objective"].tolist() == [69.0]
    assert found.study == gridded.STUDY
    assert found.revisions["number"].tolist() == [1, 2]


def test_what_is_scored_has_the_decimals_of_its_metric(grid_dir, contents):
    found = contents(grid_dir)
    geometry = Measure(name="STS-B alignment", metric="STS-B/geometry/alignment", direction="minimize")
    update = {"measures": (geometry, Measure(name="MR", metric="MR/fast/accuracy"))}
    study = found.study.model_copy(update=update)
    decimals = dataclasses.replace(found, study=study).decimals_by_measure
    assert decimals == {"STS-B alignment": 4, "MR": 2, "STS-B dev, Spearman x100": 2}
    loss = study.model_copy(update={"objective": ObjectiveRecord(metric="loss")})
    assert dataclasses.replace(found, study=loss).decimals_by_measure["loss"] == 4
    update = {"objective": ObjectiveRecord(metric="u", evaluation="STS-B/geometry/uniformity")}
    uniform = study.model_copy(update=update)
    assert dataclasses.replace(found, study=uniform).decimals == 4


def test_lines_of_a_long_history_are_thinned_to_points_that_cells_share_and_the_ledger_keeps_all(tmp_path):
    with Ledger.open(tmp_path) as ledger:
        ledger.freeze(gridded.STUDY)
        for (trial, seed), last in {(0, 0): 6000, (0, 1): 6000, (1, 0): 1234}.items():
            cell = gridded.cell(trial, seed)
            ledger.plan([cell])
            points = (Point(t=t, metrics={"loss": 1.0} | looked(t)) for t in (*range(0, last, 2), last))
            run(ledger, cell, "complete", tuple(points))
    with Reader(tmp_path) as reader:
        found, whole = read_contents(reader), reader.metrics()
    assert found.bin_steps == 12
    assert "every 12 steps; `report --tables`" in found.thinned_note
    long, other, short = (part["t"].tolist() for _, part in found.diagnostics.groupby("cell", sort=False))
    assert long == other == list(range(0, 6001, 12))
    assert short == [*range(0, 1233, 12), 1234]
    assert found.curves.groupby("cell")["t"].agg(["max", "count"]).values.tolist() == [[6000, 13]] * 2 + [
        [1000, 3]
    ]
    assert len(whole) == 2 * (3001 + 13) + 618 + 3


def looked(t):
    return {"dev": float(t)} if t % 500 == 0 else {}
