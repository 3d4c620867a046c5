import math

import pytest

from rse_study.errors import InputError
from rse_study.results.ledger import Ledger
from rse_study.results.reader import Reader
from rse_study.results.records import EvaluationRow
from rse_study.results.result_file import Point, Result


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
        "trial", "seed", "status", "alpha", "norm", "objective", "t", "duration_s", "reason", "identity",
    ]  # fmt: skip
    assert table["alpha"].tolist() == [1e-5, 1e-4]
    assert table["objective"][0] == 55.0
    assert math.isnan(table["objective"][1])
    assert table["t"][0] == 20


def test_a_ledger_without_a_study_is_refused_where_it_lies(tmp_path):
    Ledger.open(tmp_path).close()
    with (
        Reader(tmp_path) as reader,
        pytest.raises(InputError, match=r"ledger\.sqlite: the ledger holds no study"),
    ):
        reader.study()


def test_a_nan_is_a_nan(study_dir, cells):
    with Ledger.open(study_dir) as ledger:
        finish(ledger, cells[0], [(1, {"loss": math.nan}), (2, {"loss": math.inf})], status="failed")
    with Reader(study_dir) as reader:
        values = reader.metrics()["value"].tolist()
    assert math.isnan(values[0])
    assert values[1] == math.inf


def test_it_reads_while_another_writes(study_dir, cells):
    with Ledger.open(study_dir) as ledger, Reader(study_dir) as reader:
        assert reader.metrics().empty
        finish(ledger, cells[1], [(3, {"dev": 1.0})])
        assert reader.metrics()[["trial", "t", "value"]].values.tolist() == [[1, 3, 1.0]]


def test_evaluations_carry_their_metric_name(study_dir):
    rows = [
        EvaluationRow(subject="start", task="pairs", split="dev", value=0.0, num_examples=9, degenerate=True)
    ]
    with Ledger.open(study_dir) as ledger:
        ledger.record_evaluations(rows)
    with Reader(study_dir) as reader:
        frame = reader.evaluations()
    assert frame[["subject", "metric", "degenerate"]].values.tolist() == [["start", "pairs/dev/all", True]]


def test_provenance_and_events_come_in_order(study_dir):
    with Ledger.open(study_dir) as ledger:
        for version in ("1", "2"):
            ledger.add_provenance({"version": version})
            ledger.log("run", f"run {version}")
    with Reader(study_dir) as reader:
        assert [run["version"] for run in reader.provenance()] == ["1", "2"]
        assert reader.events()["text"].tolist() == ["run 1", "run 2"]


def test_reading_changes_nothing(study_dir):
    before = (study_dir / "ledger.sqlite").read_bytes()
    with Reader(study_dir) as reader:
        reader.cells()
        reader.trials_table()
    assert (study_dir / "ledger.sqlite").read_bytes() == before


def test_a_missing_ledger_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="no ledger"):
        Reader(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_a_new_ledger_has_no_study_yet(tmp_path):
    Ledger.open(tmp_path / "new").close()
    with Reader(tmp_path / "new") as reader, pytest.raises(InputError, match="no study yet"):
        reader.study()
