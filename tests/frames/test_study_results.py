"""The public frames: their columns and dtypes are pinned, and what they say is what the ledger says."""

import re
from pathlib import Path

import pandas as pd
import pytest

import rse_study
from rse_study.errors import InputError
from rse_study.results.comparing.comparisons import against, compare, row_scores
from rse_study.results.files.ledger import Ledger
from rse_study.results.frame_columns import COLUMNS
from rse_study.results.reader import Reader
from tests.analysis import gridded, searched, tabled
from tests.cases import cases

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A search, a grid, and both before anything has run."""
    folder = tmp_path_factory.mktemp("studies")
    parts = (searched.baselines, searched.search, searched.confirm, searched.importance)
    searched.make(folder / "joint", *parts)
    with Ledger.open(folder / "parts") as ledger:
        gridded.grid(ledger)
    searched.make(folder / "new-search")
    searched.make(folder / "new-grid", study=gridded.STUDY)
    scores = {"SimCSE": (70.0, 71.0, 72.0), "DCL": (73.0, 74.5, 75.0), "USCAL": (70.0, 73.0, 71.0)}
    tabled.make(folder / "tabled", scores, baseline="SimCSE")
    return folder


@cases("name", ["joint", "parts", "new-search", "new-grid", "tabled"])
@cases("frame", list(COLUMNS))
def test_columns_and_dtypes_are_the_same_for_every_study(store, name, frame):
    study = rse_study.open_study(name, store)
    found = getattr(study, frame)
    axes = list(study.record.headings) if frame == "cells" else []
    assert list(found.columns) == [*(column.name for column in COLUMNS[frame]), *axes]
    assert all(str(found[column.name].dtype) == column.dtype for column in COLUMNS[frame])
    assert list(found.index) == list(range(len(found)))


def test_every_column_is_explained_here_and_on_the_page(store):
    study = rse_study.open_study("joint", store)
    assert all(study.describe(frame)["meaning"].str.len().min() > 3 for frame in COLUMNS)
    with pytest.raises(InputError, match="Did you mean 'cells'"):
        study.describe("cell")
    page = (Path(__file__).parents[2] / "docs" / "notebooks.md").read_text(encoding="utf-8")
    lines = dict(re.findall(r"^\| `(\w+)` \| (`\w+`, .*) \|$", page, re.MULTILINE))
    assert {frame: re.findall(r"`(\w+)`", columns) for frame, columns in lines.items()} == {
        frame: [column.name for column in columns] for frame, columns in COLUMNS.items()
    }


def test_cells_have_their_rows_their_last_objective_and_their_axes(store):
    cells = rse_study.open_study("parts", store).cells
    assert len(cells) == 21
    one = cells[(cells["row"] == "base") & (cells["seed"] == 1)].iloc[0]
    assert (one["objective"], one["t"], one["status"], one["duration_s"]) == (75.0, 200, "complete", 40.0)
    assert one["lambda1"] == 1 / 128
    assert one["started"] <= one["ended"]
    failed = cells[cells["status"] == "failed"]
    assert failed["reason"].tolist() == ["step 3: the loss is nan"]
    assert failed["objective"].isna().all()
    assert rse_study.open_study("joint", store).cells["norm"].isin(["l1", "l2", "linf"]).all()


def test_evaluations_have_cells_and_baselines_and_attempts_device_time(store):
    found = rse_study.open_study("joint", store).evaluations
    baselines = found[found["kind"] == "baseline"]
    assert set(baselines["row"]) == {"token overlap", "untrained encoder", "before training"}
    assert baselines["trial"].isna().all()
    cells = found[found["kind"] == "cell"]
    assert sorted(cells["value"]) == sorted(on_test for _, on_test in searched.CONFIRMED.values())
    assert set(cells["stage"]) == {"confirm"}
    found = rse_study.open_study("joint", store).attempts
    assert (found["outcome"] == "lost").sum() == 1
    ended = found.dropna(subset="ended")
    assert (ended["device_s"] == ended["duration_s"] * ended["workers"] * ended["threads"]).all()


def test_contrasts_are_those_of_the_comparison(store):
    study = rse_study.open_study("tabled", store)
    found = study.contrasts[study.contrasts["metric"] == ""].set_index("row")
    assert list(found.index) == ["DCL", "USCAL"]
    with Reader(study.folder) as reader:
        table = row_scores(reader).table
    for row, one in zip(found.index, compare(table, list(against(table, "SimCSE").values())), strict=True):
        line = found.loc[row]
        assert (line["mean"], line["sd"]) == (one.mean, one.sd)
        expected = (one.simultaneous.low, one.simultaneous.high)
        assert (line["simultaneous_low"], line["simultaneous_high"]) == expected
        assert line["p_holm"] == one.p_holm
        assert line["excludes_zero"] == one.simultaneous.excludes(0.0)
    assert set(study.contrasts["measure"]) == {"STS-B dev, Spearman x100", "STS-B/test"}


def test_a_search_is_compared_with_its_base_and_another_row_or_baseline_may_be(store):
    found = rse_study.open_study("joint", store).contrasts
    assert set(found["minus"]) == {"base"}
    assert set(found["row"]) == {"trial 12"}
    on_test = found[found["metric"] == "builtin/test/all"].iloc[0]
    assert (on_test["num_seeds"], on_test["mean"]) == (2, pytest.approx(1.25))
    assert pd.isna(on_test["t_low"])  # two seeds show nothing
    study = rse_study.open_study("parts", store)
    assert study.contrasts.empty  # this grid names none
    found = study.contrasts_with("base")
    assert set(found["minus"]) == {"base"}
    assert "base" not in set(found["row"])
    beside = rse_study.open_study("joint", store).contrasts_with("token overlap")
    one = beside[(beside["row"] == "base") & (beside["metric"] == "builtin/test/all")].iloc[0]
    assert one["mean"] == pytest.approx((58.0 + 60.0) / 2 - 40.5)
    with pytest.raises(InputError, match="Did you mean 'base'"):
        study.contrasts_with("bas")


def test_a_study_is_found_by_its_folder_and_name_and_an_unknown_one_answered_with_what_is_there(
    store, tmp_path
):
    with pytest.raises(InputError) as told:
        rse_study.open_study("part", store)
    assert "Did you mean 'parts'?" in str(told.value)
    assert "joint, new-grid, new-search, parts, tabled" in str(told.value)
    with pytest.raises(InputError, match="no study has run here"):
        rse_study.open_study("part", tmp_path)
    assert rse_study.open_study(store / "parts").name == "parts"
    assert rse_study.open_study("new_grid", store).folder == store / "new-grid"
    study = rse_study.open_study("parts", store)
    assert study.cells is study.cells
    assert re.fullmatch(
        r"rse_study of unknown version; study 'joint', revision 1; sha256 of study [0-9a-f]{12}\.",
        rse_study.open_study("joint", store).citation,
    )


def test_a_notebook_shows_question_state_and_contrasts_and_escapes_texts(store, tmp_path):
    html = rse_study.open_study("tabled", store)._repr_html_()
    for words in ("Which row is best?", "9 complete", "each row minus SimCSE", "DCL", "+3.17", ".importance"):
        assert words in html, words
    assert "no rows with a baseline" in rse_study.open_study("parts", store)._repr_html_()
    expected = "<study 'parts': 21 cells: 19 complete, 1 failed, 1 to run>"
    assert repr(rse_study.open_study("parts", store)) == expected
    rows = {HOSTILE: (1.0, 2.0, 3.5), "SimCSE": (2.0, 2.5, 3.0)}
    folder = tabled.make(tmp_path / "hostile", rows, baseline="SimCSE", name=HOSTILE)
    html = rse_study.open_study(folder)._repr_html_()
    assert HOSTILE not in html
    assert "&lt;script&gt;" in html


def test_a_search_names_its_best_trial_with_what_fresh_seeds_say_and_is_a_study_of_optuna(store):
    study = rse_study.open_study("joint", store)
    cells, best = study.cells, study.best
    fresh = cells[(cells["stage"] == "confirm") & (cells["trial"] == best.trial)]
    assert best.trial == 12
    assert best.num_seeds == len(fresh) > 1
    assert best.score == fresh["objective"].mean()
    assert list(best.settings) == list(study.record.headings)
    known = study.optuna()
    assert known.best_trial.number == best.trial
    assert known.best_params["alpha"] == best.settings["alpha"]
    assert len(known.trials_dataframe()) == (cells["stage"] == "search").sum()


@cases(("name", "told"), [("parts", "a grid has no best trial"), ("new-search", "no trial is complete yet")])
def test_a_study_without_a_best_trial_says_why(store, name, told):
    with pytest.raises(InputError, match=told):
        assert rse_study.open_study(name, store).best
