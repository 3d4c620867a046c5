"""Files that a worker hands over: whole, sealed, and read by others."""

import json
import math
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rse_study.errors import InputError
from rse_study.results.files.atomic import write_sealed
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import (
    EVALUATIONS_FILE,
    FILE_NAME,
    ITEMS_FILE,
    Point,
    Result,
    read_evaluations,
    read_items,
    read_result,
    write_evaluations,
    write_result,
    written_rows,
)
from rse_study.results.files.schema import baselines_folder, cell_folder
from rse_study.results.item_scores import ItemScores
from tests.cases import cases
from tests.results.world import STUDY, cell_of, score_of

RESULT = Result(
    identity="a" * 64,
    seed=3,
    config={"method": {"temperature": 0.05}},
    status="failed",
    reason="step 2: loss is nan",
    history=(Point(t=1, metrics={"dev": 55.5}), Point(t=2, metrics={"dev": 56.0})),
    final={"dev": 56.0},
    provenance={"threads": 1},
)


def test_what_is_written_is_read_replaced_by_a_second_one_and_missing_an_input_error(tmp_path):
    write_result(tmp_path / "cell", RESULT)
    assert read_result(tmp_path / "cell") == RESULT
    assert [path.name for path in (tmp_path / "cell").iterdir()] == [FILE_NAME]
    write_result(tmp_path, RESULT)
    write_result(tmp_path, RESULT.model_copy(update={"seed": 4}))
    assert read_result(tmp_path).seed == 4
    with pytest.raises(InputError, match="no such file"):
        read_result(tmp_path / "none")


@given(values=st.lists(st.floats(), min_size=1))
def test_every_float_survives(values):
    point = Point(t=1, metrics={str(i): value for i, value in enumerate(values)})
    with tempfile.TemporaryDirectory() as directory:
        write_result(Path(directory), RESULT.model_copy(update={"history": (point,)}))
        (back,) = read_result(Path(directory)).history
    for name, value in point.metrics.items():
        assert back.metrics[name] == value or (math.isnan(value) and math.isnan(back.metrics[name]))


def test_it_is_plain_json(tmp_path):
    path = write_result(tmp_path, RESULT.model_copy(update={"final": {"loss": math.nan, "dev": -math.inf}}))
    content = json.loads(path.read_text(), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert content["result"]["final"] == {"loss": "NaN", "dev": "-Infinity"}


@cases(("old", "new", "message"), [("56.0", "99.0", "checksum"), ("{", "[", "damaged")])
def test_damage_is_noticed(tmp_path, old, new, message):
    path = write_result(tmp_path, RESULT)
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError, match=message):
        read_result(tmp_path)


def test_scores_are_merged_by_subject_and_metric_and_none_is_no_error(tmp_path):
    assert read_evaluations(tmp_path) == []
    write_evaluations(tmp_path, [score_of("b", 1.0), score_of("a", 2.0)])
    write_evaluations(tmp_path, [score_of("a", 3.0), score_of("a", 4.0, "dev")])
    found = [(row.subject, row.split, row.value) for row in read_evaluations(tmp_path)]
    assert found == [("a", "dev", 4.0), ("a", "test", 3.0), ("b", "test", 1.0)]


def test_a_score_may_be_nan(tmp_path):
    write_evaluations(tmp_path, [score_of("a", math.nan), score_of("b", -math.inf)])
    first, second = read_evaluations(tmp_path)
    assert math.isnan(first.value)
    assert second.value == -math.inf


def test_scores_that_are_known_are_not_written_again_and_damaged_ones_give_way(tmp_path):
    path = write_evaluations(tmp_path, [score_of("a", 1.0)])
    before = path.stat()
    write_evaluations(tmp_path, [score_of("a", 1.0)])
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    path.write_text(path.read_text()[:-9])
    write_evaluations(tmp_path, [score_of("b", 2.0)])
    assert read_evaluations(tmp_path) == [score_of("b", 2.0)]


@cases(
    "damage",
    [
        lambda t: t[: len(t) // 2],
        lambda t: "",
        lambda t: t.replace("pairs", "words"),
        lambda t: t.replace("9", "8"),
    ],
)
def test_scores_in_a_damaged_file_are_none(tmp_path_factory, damage):
    folder = tmp_path_factory.mktemp("cell")
    path = write_evaluations(folder, [score_of("a", 1.0)])
    path.write_text(damage(path.read_text()))
    assert read_evaluations(folder) == []


def test_rows_of_unknown_fields_are_none(tmp_path):
    write_sealed(tmp_path / EVALUATIONS_FILE, "evaluations", [{"colour": "red"}])
    assert read_evaluations(tmp_path) == []


GOLD = np.arange(9) / 2
ITEMS = ItemScores.of(np.linspace(-1, 1, 9) / 3, GOLD)


def carrying(subject: str, value: float = 1.0, items: ItemScores | None = ITEMS):
    return score_of(subject, value).model_copy(update={"items": items})


def test_items_come_back_as_float32_with_the_rows_of_their_data(tmp_path):
    write_evaluations(tmp_path, [carrying("a"), score_of("b", 2.0)])
    first = written_rows(tmp_path, "a", {("pairs/test", "f")})[0]
    assert first.items.scores.dtype == np.float32
    assert first.items.to_json() == ITEMS.to_json()
    assert first.items.gold.tolist() == GOLD.tolist()
    assert written_rows(tmp_path, "b", {("pairs/test", "f")}) == [score_of("b", 2.0)]
    write_evaluations(tmp_path, [score_of("a", 1.0).model_copy(update={"fingerprint": "of other data"})])
    assert written_rows(tmp_path, "a", {("pairs/test", "of other data")})[0].items is None


def test_damaged_items_are_none_and_take_no_score_with_them(tmp_path):
    write_evaluations(tmp_path, [carrying("a")])
    path = tmp_path / ITEMS_FILE
    path.write_text(path.read_text().replace('"pairs', '"words'))
    assert read_items(tmp_path) == {}
    assert written_rows(tmp_path, "a", {("pairs/test", "f")}) == [score_of("a", 1.0)]
    write_evaluations(tmp_path, [carrying("a")])
    assert len(read_items(tmp_path)) == 1


def test_known_items_are_not_written_again(tmp_path):
    write_evaluations(tmp_path, [carrying("a")])
    before = (tmp_path / ITEMS_FILE).stat()
    write_evaluations(tmp_path, [carrying("a")])
    assert (tmp_path / ITEMS_FILE).stat().st_ino == before.st_ino
    assert read_evaluations(tmp_path) == [score_of("a", 1.0)]


@pytest.mark.parametrize("keep_items", [True, False])
def test_a_ledger_leaves_items_of_cells_and_baselines_beside_it_unless_the_study_keeps_none(
    tmp_path, keep_items
):
    study = STUDY.model_copy(update={"resolved": {"keep_items": keep_items}})
    with Ledger.open(tmp_path) as ledger:
        ledger.freeze(study)
        ledger.plan([cell_of(0)])
        ledger.record_evaluations([carrying(cell_of(0).identity), carrying("start", 2.0)])
        assert {row.items for row in ledger.evaluations()} == {None}
    folders = (cell_folder(tmp_path, cell_of(0).identity), baselines_folder(tmp_path))
    assert [len(read_items(folder)) for folder in folders] == [keep_items, keep_items]
