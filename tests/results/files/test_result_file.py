import json
import math
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rse_study.errors import InputError
from rse_study.results.files.result_file import FILE_NAME, Point, Result, read_result, write_result
from tests.cases import cases

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
