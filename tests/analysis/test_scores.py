import dataclasses
import math

import pandas as pd
import pytest

from analysis.scores import (
    as_text,
    measures_of,
    scores,
    seeds_of,
    show_scores,
    summarise,
)
from analysis.search import confirmed
from rse_study.results.reader import Reader
from rse_study.results.study_record import ObjectiveRecord, StudyRecord
from tests.analysis import gridded, searched

NAN = math.nan
FRAME = pd.DataFrame(
    [
        (0, "untrained", "baseline", pd.NA, pd.NA, "test", 10.0, "complete"),
        (1, "before", "baseline", pd.NA, pd.NA, "test", NAN, "not measured"),
        (2, "base", "base", 0, 1, "test", 50.0, "complete"),
        (2, "base", "base", 0, 2, "test", 53.0, "complete"),
        (2, "base", "base", 0, 3, "test", 56.0, "complete"),
        (3, "other", "row", 4, 1, "test", 52.5, "complete"),
        (3, "other", "row", 4, 2, "test", 51.0, "complete"),
        (3, "other", "row", 4, 3, "test", NAN, "failed"),
    ],
    columns=["position", "row", "kind", "trial", "seed", "measure", "value", "status"],
).assign(degenerate=False)


def test_means_and_spreads_are_those_worked_out_by_hand():
    table = summarise(FRAME).set_index("row")
    assert table.loc["base", ["mean", "sd", "num_seeds"]].tolist() == [53.0, 3.0, 3]
    assert table.loc["other", "mean"] == 51.75
    assert table.loc["other", "sd"] == pytest.approx(1.5 / math.sqrt(2))
    assert table.loc["other", "num_seeds"] == 2
    assert table.loc["before", "num_seeds"] == 0
    assert math.isnan(table.loc["untrained", "sd"])
    objective = ObjectiveRecord(metric="dev", evaluation="B/dev/all")
    study = StudyRecord(name="x", objective=objective, evaluations=("B/dev", "B/test"))
    assert list(measures_of(study, "dev")) == ["B/test", "dev"]
    assert list(measures_of(study.model_copy(update={"kind": "grid"}), "dev")) == ["dev", "B/test"]


def test_the_text_says_what_is_missing_and_how_many_seeds_a_mean_has():
    shown = show_scores(FRAME, {"test": 1}, every_seed=["test"])
    assert list(shown.columns) == [
        ("", "row"),
        ("test", "mean \N{PLUS-MINUS SIGN} SD"),
        *[("test", f"seed {seed}") for seed in (1, 2, 3)],
    ]
    assert shown.values.tolist() == [
        ["untrained", "10.0", "", "", ""],
        ["before", "not measured", "", "", ""],
        ["base", "53.0 \N{PLUS-MINUS SIGN} 3.0", "50.0", "53.0", "56.0"],
        ["other", "51.8 \N{PLUS-MINUS SIGN} 1.1 (n = 2)", "52.5", "51.0", "failed"],
    ]
    shown = show_scores(FRAME[FRAME["status"] != "failed"], {"test": 2}, every_seed=["test"])
    assert shown["test", "seed 3"].tolist() == ["", "", "56.00", "missing"]


def test_a_confirmed_search_has_baselines_and_every_seed(search_dir, contents):
    found = contents(search_dir)
    frame = scores(found, confirmed(found))
    assert seeds_of(frame) == [1, 2]
    rows = [
        "token overlap",
        "untrained encoder",
        "before training",
        "base",
        "trial 12 (best of the search)",
    ]
    table = summarise(frame).set_index(["measure", "row"])["mean"]
    assert table["builtin/test"][rows].tolist() == [40.5, 37.75, 52.0, 59.0, 60.25]
    dev = table["builtin dev, Spearman x100"]
    assert dev[rows[3:]].tolist() == pytest.approx([60.0, 61.7])
    assert math.isnan(dev["before training"])


def test_cells_under_way_ended_early_or_not_measured_have_no_value(grid_dir, contents, search_dir):
    found = contents(grid_dir)
    frame = scores(found, found.stage("grid"))
    part = frame[(frame["row"] == "without the token level") & (frame["measure"] == "STS12/test")]
    assert part["status"].tolist() == ["complete", "failed", "planned"]
    assert part["value"].fillna(-1).tolist() == [62.0, -1, -1]
    assert list(dict.fromkeys(frame["measure"])) == ["STS-B dev, Spearman x100", "STS-B/test", "STS12/test"]
    cells = found.stage("grid").iloc[:1].assign(identity="somebody else")
    frame = scores(found, cells)
    expected = ["complete", "not measured", "not measured"]
    assert frame.loc[frame["kind"] == "row", "status"].tolist() == expected
    found = contents(search_dir)
    cells = confirmed(found)
    running = cells.assign(status=cells["status"].where(cells["seed"] == 1, "running"))
    frame = scores(found, running)
    assert frame.loc[frame["seed"] == 2, "value"].isna().all()
    assert frame.loc[frame["seed"] == 1, "value"].notna().all()
    assert set(frame.loc[frame["seed"] == 2, "status"]) == {"running"}


def test_what_had_collapsed_or_is_called_degenerate_is_so_in_the_scores(grid_dir, contents):
    found = contents(grid_dir)
    one = found.stage("grid")["identity"].iloc[0]
    frame = scores(dataclasses.replace(found, collapsed=frozenset({one})), found.stage("grid"))
    bad = frame[frame["degenerate"]]
    assert bad[["row", "measure", "seed"]].values.tolist() == [["lambda1 = 0.000976562", found.label, 0]]
    first, second = found.stage("grid")["identity"][:2]
    rows = found.evaluations
    is_test = rows["metric"] == "STS-B/test/all"
    value = rows["value"].mask(is_test & (rows["subject"] == second))
    marked = rows.assign(degenerate=is_test & rows["subject"].isin([first, second, "untrained"]), value=value)
    frame = scores(dataclasses.replace(found, evaluations=marked), found.stage("grid"))
    bad = frame[frame["degenerate"]]
    assert bad[["row", "measure", "status"]].values.tolist() == [
        ["untrained encoder", "STS-B/test", "complete"],
        ["lambda1 = 0.000976562", "STS-B/test", "complete"],
        ["lambda1 = 0.000976562", "STS-B/test", "undefined"],
    ]
    assert bad["value"].isna().tolist() == [False, False, True]


def test_the_terminal_table_of_a_search_shows_trials_and_means_of_confirmed_ones_below(search_dir):
    frame = as_text(Reader(search_dir))
    assert list(frame.columns) == [
        "trial", "builtin dev, Spearman x100", "builtin/test", "step", "status", "alpha", "beta", "N", "norm", "rho",
        "lambda1", "lambda2", "phi", "time",
    ]  # fmt: skip
    expected = ["token overlap", "untrained encoder", "before training", "0 (base)"]
    assert frame["trial"].tolist()[:4] == expected
    assert frame.iloc[2, 1:3].tolist() == ["not measured", "52.00"]
    assert len(frame) == 3 + 16 + 2
    assert frame.loc[frame["trial"].str.endswith(" *"), "trial"].tolist() == ["12 *"]
    assert frame.map(lambda value: isinstance(value, str)).all(axis=None)
    below = frame.iloc[-2:]
    assert below["trial"].tolist() == [
        "confirmed: base, 2 seeds",
        "confirmed: trial 12 (best of the search), 2 seeds",
    ]
    assert below["builtin/test"].tolist() == ["59.00", "60.25"]
    assert below["builtin dev, Spearman x100"].tolist() == ["60.00", "61.70"]
    assert set(as_text(Reader(search_dir))["builtin/test"].iloc[3:19]) == {""}


def test_a_table_of_the_terminal_shows_the_rows_of_a_grid_in_order_and_planned_studies_too(
    grid_dir, tmp_path
):
    frame = as_text(Reader(grid_dir)).set_index("row")
    assert frame.index.tolist()[3:] == [
        "lambda1 = 0.000976562", "lambda1 = 0.0078125", "lambda1 = 0.125", "base", "without weakening masks",
        "without PGD", "without the token level",
    ]  # fmt: skip
    dev = "STS-B dev, Spearman x100"
    assert frame.loc["lambda1 = 0.125", f"{dev} mean \N{PLUS-MINUS SIGN} SD":f"{dev} seed 2"].tolist() == [
        "64.00 \N{PLUS-MINUS SIGN} 2.65", "66.00", "65.00", "61.00",
    ]  # fmt: skip
    assert frame.loc["without the token level", f"{dev} seed 0":f"{dev} seed 2"].tolist() == [
        "72.00", "failed", "not run yet",
    ]  # fmt: skip
    assert frame.loc["base", "STS12/test mean \N{PLUS-MINUS SIGN} SD"].startswith("65.50")
    baselines = ["token overlap", "untrained encoder", "before training"]
    assert as_text(Reader(searched.make(tmp_path / "search")))["trial"].tolist() == baselines
    assert as_text(Reader(searched.make(tmp_path / "grid", study=gridded.STUDY)))["row"].tolist() == baselines
