import math

import pandas as pd
import pytest

from analysis.tables import as_text, baselines, beaten, costs, failures, show_duration, show_value, trials
from rse_study.results.ledger import Ledger
from rse_study.results.reader import Reader
from rse_study.results.records import Objective


def test_the_best_is_the_best_complete_trial(study_dir):
    with Reader(study_dir) as reader:
        table = trials(reader)
    complete = table[table["status"] == "complete"]
    assert table["best"].sum() == 1
    assert table.loc[table["best"], "objective"].item() == complete["objective"].max()


def test_the_best_of_a_loss_is_the_smallest(study_dir, study, refill):
    smaller = study.model_copy(update={"objective": Objective(metric="dev", direction="minimize")})
    with Reader(refill(smaller)) as reader:
        table = trials(reader)
    assert (
        table.loc[table["best"], "objective"].item()
        == table[table["status"] == "complete"]["objective"].min()
    )


def test_baselines_are_compared_on_the_objectives_own_pairs(study_dir):
    with Reader(study_dir) as reader:
        scores = baselines(reader).set_index("subject")["value"]
    assert scores["untrained"] == 58.1
    assert scores["token_overlap"] == 54.25
    assert math.isnan(scores["start"])  # measured on test pairs only: no row of this search


def test_the_terminal_table_shows_everything(study_dir):
    frame = as_text(study_dir)
    assert list(frame.columns) == [
        "trial", "STS-B dev, Spearman x100", "status", "alpha", "beta", "N", "norm", "rho", "lambda1", "lambda2",
        "phi", "step", "time",
    ]  # fmt: skip
    assert frame["trial"].tolist()[:4] == ["token overlap", "untrained encoder", "before training", "0"]
    assert frame.iloc[2, 1] == "not measured"
    assert len(frame) == 3 + 8
    assert frame["trial"].str.endswith(" *").sum() == 1
    assert frame.map(lambda value: isinstance(value, str)).all(axis=None)


def test_a_failure_keeps_its_reason(study_dir):
    with Reader(study_dir) as reader:
        assert failures(reader).values.tolist() == [[2, 0, "step 41: loss is nan"]]


def test_costs_add_up(study_dir):
    with Reader(study_dir) as reader:
        cost = costs(reader)
    assert cost["time in cells"] == "2 min 30 s"  # 7 finished cells of 21.5 s
    assert "1 stopped_early" in cost["cells"]


def test_a_planned_study_has_tables_too(tmp_path, study):
    with Ledger.open(tmp_path) as ledger:
        ledger.freeze(study)
    assert as_text(tmp_path)["trial"].tolist() == ["token overlap", "untrained encoder", "before training"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, ""), (3.21, "3.2 s"), (245, "4 min 05 s"), (7800, "2 h 10 min"), (3599.7, "1 h 00 min")],
)
def test_durations_are_readable(seconds, text):
    assert show_duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(1e-5, "1e-05"), (0.123456, "0.123"), (12, "12"), ("linf", "linf"), (None, ""), (pd.NA, "")],
)
def test_values_are_readable(value, text):
    assert show_value(value) == text


def test_baselines_that_nothing_beats_are_named():
    table = pd.DataFrame({"status": ["complete", "complete", "failed"], "objective": [50.0, 60.0, 99.0]})
    scores = pd.DataFrame({"label": ["a", "b", "c"], "value": [55.0, 60.0, math.nan]})
    assert beaten(table, scores, "maximize") == [
        "1 of 2 complete trials are better than a",
        "0 of 2 complete trials are better than b",
    ]
    assert beaten(table, scores, "minimize")[1] == "1 of 2 complete trials are better than b"
