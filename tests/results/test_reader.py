import json
import math
import sqlite3

import pytest

from rse_study.errors import InputError
from rse_study.results.files.connect import open_to_write
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point, Result
from rse_study.results.files.schema import cell_folder, ledger_path
from rse_study.results.reader import Reader, status_for_next_run
from rse_study.results.records import FINISHED, EvaluationRow, Status
from rse_study.results.study_record import OWN_COLUMNS, ObjectiveRecord
from rse_study.search.state import SearchState
from rse_study.search.stopping import rule_of
from tests.cases import cases
from tests.results.world import HERE, STUDY, cell_of, score_of


def finish(ledger, cell, metrics, status="complete"):
    history = tuple(Point(t=t, metrics=values) for t, values in metrics)
    ledger.record_result(
        Result(identity=cell.identity, seed=cell.seed, config=cell.config, status=status, history=history)
    )


def test_the_table_has_a_column_per_axis_and_the_last_value(study_dir, cells):
    with Ledger.open(study_dir) as ledger:
        finish(ledger, cells[0], [(0, {"dev": 40.0}), (10, {"dev": 60.0, "loss": 1.0}), (20, {"dev": 55.0})])
    with Reader(study_dir) as reader:
        table = reader.trials_table()
    assert list(table.columns) == [
        "trial", "seed", "stage", "label", "status", "alpha", "norm",
        "objective", "t", "duration_s", "reason", "identity",
    ]  # fmt: skip
    assert set(table.columns) - {"alpha", "norm"} <= OWN_COLUMNS
    assert table["alpha"].tolist() == [1e-5, 1e-4]
    assert table["objective"][0] == 55.0
    assert math.isnan(table["objective"][1])
    assert table["t"][0] == 20


@cases(
    ("keep", "values", "expected"),
    [
        ("best", [90.0, 60.0, 70.0, 55.0], 70.0),  # the start is no checkpoint
        ("best", [40.0, 0.0, 60.0, 60.0], 60.0),
        ("best", [40.0, math.nan, 60.0, 50.0], 60.0),
        ("last", [40.0, 70.0, 60.0, 55.0], 55.0),
    ],
)
def test_an_objective_at_the_kept_checkpoint_is_read_from_the_history(tmp_path, keep, values, expected):
    cell = cell_of(0).model_copy(update={"config": {"selection": {"keep": keep}}})
    kept = STUDY.model_copy(update={"objective": ObjectiveRecord(metric="dev/kept")})
    with Ledger.open(tmp_path / "s") as ledger:
        ledger.freeze(kept)
        ledger.plan([cell])
        ledger.start(cell.identity, **HERE)
        marks = {value: float(value == 0) for value in values}
        points = [
            {"dev": value, "dev/degenerate": marks[value], "other": t} for t, value in enumerate(values)
        ]
        finish(ledger, cell, [*enumerate(points), (4, {"loss": 1.0})])
    with Reader(tmp_path / "s") as reader:
        (row,) = reader.trials_table().to_dict("records")
        assert (row["objective"], row["t"]) == (expected, 3)
        assert reader.final_values("dev")[cell.identity] == values[-1]  # the last step stands in it, too
        assert reader.final_values("other/kept")[cell.identity] == values.index(expected)
        assert reader.collapsed() == frozenset()


def test_every_cell_is_counted_once_in_a_table_sorted_by_trial_and_seed(searched_dir):
    with Reader(searched_dir) as reader:
        table = reader.trials_table()
    assert table[["trial", "seed", "stage", "label", "status"]].values.tolist() == [
        [0, 0, "search", "base", "complete"],
        [0, 7, "confirm", "", "complete"],
        [1, 0, "search", "", "failed"],
        [2, 0, "search", "", "stopped_early"],
        [3, 0, "search", "", "running"],
        [4, 0, "search", "", "planned"],
    ]
    assert table["objective"].fillna(-1).tolist()[:5] == [59.0, 60.0, -1, 40.0, -1]
    assert table["rho"].tolist() == [0.0, 0.0, 0.1, 0.2, 0.3, 0.4]
    with Reader(searched_dir) as reader:
        counts = SearchState.read(reader).counts
    assert counts == {
        "planned": 7, "complete": 2, "stopped_early": 1, "failed": 1, "running": 1, "missing": 2,
    }  # fmt: skip
    assert set(FINISHED) < set(counts)


def test_retired_cells_are_shown_to_who_asks(searched_dir):
    retired = cell_of(1, 7, "confirm").identity
    with Ledger.open(searched_dir) as ledger:
        ledger.start(retired, **HERE)
        ledger.record_progress(retired, 1, {"dev": 1.0})
        ledger._db.execute("INSERT INTO rung VALUES (?, 1, 1.0, 'stop')", (retired,))
        ledger._db.commit()
        ledger.record_evaluations([score_of(retired, 1.0)])
    with Reader(searched_dir) as reader:
        for read, column in [
            (reader.cells, "identity"),
            (reader.attempts, "cell"),
            (reader.metrics, "cell"),
            (reader.rungs, "cell"),
            (reader.evaluations, "subject"),
        ]:
            assert retired not in set(read()[column])
            assert retired in set(read(retired=True)[column])
        assert reader.cells(retired=True)["retired"].tolist().count(True) == 1
        assert retired not in set(reader.trials_table()["identity"])
        assert SearchState.read(reader).counts["running"] == 1


def test_frames_hold_what_was_recorded(searched_dir):
    with Reader(searched_dir) as reader:
        assert reader.study() == STUDY
        revisions = reader.revisions()
        assert revisions[["number", "change"]].values.tolist() == [[1, "created"], [2, "num_trials: 3 -> 5"]]
        assert [study["num_trials"] for study in revisions["study"]] == [3, 5]
        assert reader.rungs()[["trial", "seed", "t", "value", "verdict"]].values.tolist() == [
            [0, 0, 10, 50.0, "continue"],
            [0, 0, 30, 60.0, "continue"],
            [1, 0, 10, 49.0, "continue"],
            [2, 0, 10, 40.0, "stop"],
        ]
        assert reader.attempts()[["trial", "seed", "number", "executor", "outcome"]].values.tolist() == [
            [0, 0, 1, "inline", "complete"],
            [0, 7, 1, "inline", "complete"],
            [1, 0, 1, "inline", "failed"],
            [2, 0, 1, "inline", "stopped_early"],
            [3, 0, 1, "inline", "running"],
        ]
        assert reader.importance().values.tolist() == [["rho", "fanova", 1.0, 0.9, 1.0, 2]]
        assert reader.cells()["provenance"][0] == {"threads": 1, "torch": "2.13.0"}
        assert reader.cells()["config"][4] == {"blend": {"rho": 0.3}}


def test_a_missing_ledger_or_one_whose_study_is_gone_is_refused_where_it_lies(study_dir, tmp_path):
    with sqlite3.connect(study_dir / "ledger.sqlite") as db:
        db.execute("DELETE FROM revision")
    refusal = pytest.raises(InputError, match=r"ledger\.sqlite: the ledger holds no study")
    with Reader(study_dir) as reader, refusal:
        reader.study()
    with pytest.raises(InputError, match="no ledger"):
        Reader(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_it_reads_while_another_writes_and_inside_with_everything_is_of_one_moment(study_dir, cells):
    with Ledger.open(study_dir) as ledger:
        with Reader(study_dir) as reader:
            assert reader.metrics().empty
            finish(ledger, cells[1], [(3, {"dev": 1.0})])
        with Reader(study_dir) as reader:
            assert reader.metrics()[["trial", "t", "value"]].values.tolist() == [[1, 3, 1.0]]
    # Else a screen that reads cells and then their values meets trials it has never heard of.
    with Ledger.open(study_dir) as ledger, Reader(study_dir) as reader:
        before = len(reader.cells())
        ledger.plan([cell_of(7)])
        assert len(reader.trials_table()) == before
        with Reader(study_dir) as later:
            assert len(later.trials_table()) == before + 1


def test_who_reads_changes_nothing_for_anybody(searched_dir):
    """Inside `with` a frame is read once."""
    with Reader(searched_dir) as reader:
        changed = reader.cells()
        changed["status"] = "gone"
        changed.loc[:, "trial"] = 99
        again = reader.cells()
    assert not (again["status"] == "gone").any()
    assert not (again["trial"] == 99).any()
    before = (searched_dir / "ledger.sqlite").read_bytes()
    with Reader(searched_dir) as reader:
        reader.cells()
        reader.trials_table()
        json.dumps(SearchState.read(reader).counts)
    assert (searched_dir / "ledger.sqlite").read_bytes() == before
    with Reader(searched_dir) as reader:
        every, dev = reader.metrics(), reader.metrics(name="dev")
    assert set(every["name"]) == {"dev", "loss"}
    assert dev.values.tolist() == every[every["name"] == "dev"].values.tolist()


def test_scores_of_other_data_or_settings_and_of_other_weights_are_left_out(study_dir, study):
    kept, changed, unknown = (
        EvaluationRow(subject="start", task=task, split="dev", value=1.0, num_examples=9, fingerprint="a")
        for task in ("kept", "changed", "unknown")
    )
    other = kept.model_copy(update={"subject": "mean"})
    prints = {"kept/dev": "a", "changed/dev": "b"}
    with Ledger.open(study_dir) as ledger:
        ledger.record_evaluations([kept, changed, unknown, other])
        ledger.freeze(study.model_copy(update={"fingerprints": prints}))
        ledger.withdraw_evaluations({"mean"}, "other weights")
    with Reader(study_dir) as reader:
        frame, events = reader.evaluations(), reader.events()
    assert events["text"].tolist()[-1:] == ["other weights"]
    assert frame[["subject", "task"]].values.tolist() == [["start", "kept"], ["start", "unknown"]]


def test_a_ledger_in_which_nothing_was_frozen_is_an_input_error(tmp_path):
    open_to_write(ledger_path(tmp_path)).close()
    with Reader(tmp_path) as reader, pytest.raises(InputError, match="holds no study yet"):
        SearchState.read(reader)


def test_settings_of_a_later_version_are_an_input_error(study):
    later = study.model_copy(update={"resolved": {"confirm": {"baseline": "another", "seeds": [1]}}})
    with pytest.raises(
        InputError, match=r"small: the frozen study: .*this version does not know these settings"
    ):
        _ = later.settings
    later = study.model_copy(update={"resolved": {"early_stopping": {"name": "later"}}})
    with pytest.raises(InputError, match="this version does not know this rule"):
        rule_of(later)


IDENTITY = "a" * 64


@cases("has_result", [True, False])
@cases("status", Status.__args__)
def test_a_cell_that_failed_without_a_result_alone_is_planned_again(tmp_path, status, has_result):
    if has_result:
        folder = cell_folder(tmp_path, IDENTITY)
        folder.mkdir(parents=True)
        (folder / "result.json").write_text("{}")
    expected = "planned" if status == "failed" and not has_result else status
    assert status_for_next_run(tmp_path, IDENTITY, status) == expected


def test_counts_add_up_whatever_became_of_the_cells(searched_dir):
    with Reader(searched_dir) as reader:
        before = SearchState.read(reader).counts
        cells = reader.cells()
    assert before["failed"] == 1
    failed = cells.loc[cells["status"] == "failed", "identity"].item()
    (cell_folder(searched_dir, failed) / "result.json").unlink()
    with Reader(searched_dir) as reader:
        after = SearchState.read(reader).counts
    assert after == before | {"failed": 0, "missing": before["missing"] + 1}
    assert after["planned"] == sum(after.values()) - after["planned"]
