import dataclasses
import math

import pandas as pd
import pytest

from analysis.contents import names, read_contents, with_last_values
from analysis.formats import (
    counted,
    decimals_of,
    join_words,
    show_duration,
    show_measured,
    show_number,
    show_power,
    show_signed,
    show_time,
    show_value,
)
from analysis.search import base_values, confirmed, ranking, settings, trials
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point
from rse_study.results.reader import Reader
from rse_study.results.records import Measure
from rse_study.results.settings import ConfirmSettings
from rse_study.results.study_record import AxisRecord, ObjectiveRecord, StudyRecord
from tests.analysis import gridded, searched
from tests.analysis.searched import run
from tests.cases import cases

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


DURATIONS = [(0, ""), (3.21, "3.2 s"), (245, "4 min 05 s"), (7800, "2 h 10 min"), (3599.7, "1 h 00 min")]
VALUES = [(1e-5, "1e-05"), (0.123456, "0.123"), (12, "12"), ("linf", "linf"), (None, ""), (pd.NA, "")]
SIGNED = [(1.25, "+1.25"), (-0.5, "\N{MINUS SIGN}0.50"), (0.001, "0.00"), (-0.001, "0.00"), (math.nan, "")]
SHOWN = {show_duration: DURATIONS, show_value: [*VALUES, (True, "True")], show_signed: SIGNED}


@cases(("show", "value", "text"), [(show, *one) for show, table in SHOWN.items() for one in table])
def test_durations_values_and_differences_are_readable(show, value, text):
    assert show(value) == text


def test_numbers_words_times_and_collapsed_scores_are_readable():
    assert [show_number(1.23456), show_number(1.23456, 4), show_number(math.nan)] == ["1.23", "1.2346", ""]
    assert [join_words(words) for words in ([], [1], "ab", "abc")] == ["", "1", "a and b", "a, b and c"]
    assert [counted(1, "seed"), counted(0, "seed")] == ["1 seed", "0 seeds"]
    assert show_time("2026-03-01T10:02:03+00:00") == "2026-03-01 10:02:03"
    assert show_measured(71.234, 2, False) == "71.23"
    assert show_measured(0.0, 2, True) == "0.00 \N{DAGGER}"
    assert show_measured(math.nan, 2, True) == "undefined \N{DAGGER}"
    assert show_measured(math.nan, 2, False) == ""


def test_distances_have_more_decimals_than_percentages():
    for metric in ("geometry/alignment", "geometry/uniformity", "replayed/drift"):
        assert decimals_of(f"STS-B/{metric}", fine=4) == 4, metric
    assert decimals_of("MR/fast/accuracy", fine=4) == 2


def test_a_difference_that_can_be_resolved_is_never_shown_as_nothing():
    shown = [show_power(value, "effect of {} points") for value in (0.483, 0.00312)]
    ends = "would be found in 4 of 5 such studies."
    assert shown == [f"a true effect of 0.48 points {ends}", f"a true effect of 0.003 points {ends}"]
    for value in (0.0, 1e-15, math.nan):
        assert show_power(value, "effect of {}").startswith("the differences do not vary over seeds")


def test_the_trials_of_a_search_are_those_of_its_stage_and_a_grid_has_no_best(search_dir, contents, grid_dir):
    table = trials(contents(search_dir))
    assert table["trial"].tolist() == list(range(16))
    assert table.loc[table["best"], "trial"].tolist() == [12]
    assert table["status"].value_counts().to_dict() == {"stopped_early": 9, "complete": 6, "failed": 1}
    table = trials(contents(grid_dir))
    assert len(table) == 21
    assert not table["best"].any()


def test_a_short_trial_never_outranks_one_of_the_full_budget_and_confirmed_cells_are_named(
    search_dir, contents
):
    places = ranking(contents(search_dir))
    by_place = sorted(places, key=places.get)
    assert by_place[:6] == [12, 7, 15, 9, 2, 0]  # complete ones, by their score
    assert by_place[6:8] == [13, 8]  # the two that got to step 30
    cells = confirmed(contents(search_dir))
    assert cells[["name", "seed"]].values.tolist() == [
        ["base", 1],
        ["base", 2],
        ["trial 12 (best of the search)", 1],
        ["trial 12 (best of the search)", 2],
    ]
    plan = {"num_best": 2, "baseline": "base", "seeds": [1, 2, 3]}
    assert ConfirmSettings(**plan).num_cells == 9
    assert ConfirmSettings(**plan | {"baseline": "none"}).num_cells == 6
    assert ConfirmSettings().num_cells == 0


def test_the_best_setting_stands_beside_the_papers_wherever_that_is_read(search_dir, contents, tmp_path):
    found = contents(search_dir)
    rows = settings(found, trials(found)).set_index("axis")
    assert rows.loc["norm"].tolist() == ["l2", "linf", "l1, l2, linf", "choice", "pgd.ball.norm"]
    expected = ["5", "1 to 16", "linear, whole numbers"]
    assert rows.loc["N", ["base", "searched", "scale"]].tolist() == expected
    assert rows.loc["lambda1", ["base", "scale"]].tolist() == ["0.00781", "logarithmic"]
    axes = searched.STUDY.axes[2:3]
    base = {"pgd": {"num_steps": 40}}
    study = searched.STUDY.model_copy(update={"axes": axes, "resolved": {"base": base}})
    assert base_values(contents(searched.make(tmp_path, study=study))) == {"N": 40}
