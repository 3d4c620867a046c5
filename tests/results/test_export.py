import csv
import json

import pandas as pd
import pytest

from rse_study.errors import InputError
from rse_study.results.export import csv_text, flat, write_tables
from rse_study.results.files.ledger import Ledger
from rse_study.results.reader import Reader
from rse_study.results.study_record import AxisRecord
from tests.cases import cases
from tests.results.world import STUDY, cell_of

NAMES = {
    "table", "trials", "cells", "attempts", "metrics", "rungs", "evaluations", "crossed", "importance", "revisions",
    "provenance", "events",
}  # fmt: skip
READ = {"parquet": pd.read_parquet, "csv": pd.read_csv}


@pytest.fixture(params=["parquet", "csv"])
def kind(request):
    return request.param


def test_every_frame_has_a_file_that_reads_back(searched_dir, tmp_path, kind):
    with Reader(searched_dir) as reader:
        paths = write_tables(reader, tmp_path / "out", kind)
        trials, metrics, cells = reader.trials_table(), reader.metrics(), reader.cells()
    assert {path.name for path in paths} == {f"{name}.{kind}" for name in NAMES}
    back = {path.stem: READ[kind](path) for path in paths}
    assert "evaluation_seed" in back["evaluations"] and "seed" not in back["evaluations"]
    assert back["trials"]["objective"].fillna(-1).tolist() == trials["objective"].fillna(-1).tolist()
    assert list(back["trials"].columns) == ["row", *trials.columns]
    pd.testing.assert_frame_equal(back["metrics"].drop(columns="row"), metrics)
    assert [json.loads(text) for text in back["cells"]["config"]] == cells["config"].tolist()
    assert [json.loads(text)["num_trials"] for text in back["revisions"]["study"]] == [3, 5]
    assert json.loads(back["provenance"]["content"][0]) == {"threads": 1}
    assert not back["cells"]["retired"].any()
    assert len(back["attempts"]) == 5
    table = back["table"].set_index("identity")
    assert list(table.index) == cells["identity"].tolist()
    assert {"row", "seed", "objective"} < {*table} and table.filter(like="/").notna().any(axis=None)


def test_what_is_of_a_cell_or_a_baseline_has_the_name_that_all_outputs_use(searched_dir, tmp_path):
    with Reader(searched_dir) as reader:
        write_tables(reader, tmp_path, "csv")
    trials, evaluations = (pd.read_csv(tmp_path / f"{name}.csv") for name in ("trials", "evaluations"))
    assert trials["row"].tolist() == ["base", "trial 0", "trial 1", "trial 2", "trial 3", "trial 4"]
    assert set(evaluations.loc[evaluations["subject"] == "untrained", "row"]) <= {"untrained encoder"}
    assert evaluations["row"].notna().all()


def test_mixed_choices_are_json_text_and_texts_and_numbers_stay_what_they_are(tmp_path, kind):
    choices = (0.5, "none", True, [1, 2])
    axes = (AxisRecord(name="x", paths=("x",), kind="choice", choices=choices),)
    with Ledger.open(tmp_path / "s") as ledger:
        ledger.freeze(STUDY.model_copy(update={"axes": axes}))
        ledger.plan(cell_of(i).model_copy(update={"proposal": {"x": x}}) for i, x in enumerate(choices))
        ledger.plan([cell_of(9)])
    with Reader(tmp_path / "s") as reader:
        write_tables(reader, tmp_path, kind)
    column = READ[kind](tmp_path / f"trials.{kind}")["x"]
    assert [json.loads(text) for text in column[:4]] == list(choices)
    assert pd.isna(column[4])
    frame = pd.DataFrame({"text": ["a", None], "number": [1.5, float("nan")], "is_it": [True, False]})
    pd.testing.assert_frame_equal(flat(frame), frame)


def test_a_folder_that_cannot_be_is_an_input_error(searched_dir, tmp_path, kind):
    (tmp_path / "out").write_text("")
    with (
        Reader(searched_dir) as reader,
        pytest.raises(InputError, match=r"cannot be written.*another folder"),
    ):
        write_tables(reader, tmp_path / "out", kind)


@cases("text", ["=1+1", "=cmd|' /C calc'!A0", "@SUM(A1)", "+x", "-", "-2+3", "-1 of 2", "- a"])
def test_a_spreadsheet_computes_no_text(text):
    frame = pd.DataFrame({text: [text, None], "n": [-1.5, 2.0]})
    (heading, first, _) = csv.reader(csv_text(frame).splitlines())
    assert heading == [f"'{text}", "n"] and first == [f"'{text}", "-1.5"]
