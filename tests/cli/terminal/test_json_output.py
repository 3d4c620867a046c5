"""Whatever a command prints with --json a strict reader can read: RFC 8259 knows neither NaN nor infinity."""

import json
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import rse_study.cli
from rse_study.cli.terminal.json_output import json_of
from rse_study.results.ledger import Ledger
from tests.cli.a_study import SEARCH, cell_of, run
from tests.downstream.toy_tasks import write_lines, write_stsb

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
CONTENT = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner)
)


def strictly(text):
    """What a reader says that refuses all that is no JSON."""

    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


@given(CONTENT)
def test_all_that_json_knows_comes_back_and_the_rest_is_null(content):
    text = json_of(content)
    assert text.isascii()
    found, told = strictly(text), json.loads(json.dumps(content), parse_constant=lambda name: None)
    assert found == told


def test_numbers_of_numpy_are_numbers():
    assert strictly(json_of([np.float64("nan"), np.float64(-np.inf), np.float64(0.5)])) == [None, None, 0.5]


def test_no_verb_writes_json_by_other_means():
    writers = {
        path.name
        for path in Path(rse_study.cli.__file__).parent.rglob("*.py")
        if "json.dumps(" in path.read_text(encoding="utf-8")
    }
    assert writers == {"json_output.py", "init.py"}  # the latter writes a schema, which has no numbers


def test_a_correlation_that_is_not_defined_is_null(rse, small_model, no_hub, tmp_path):
    """GLUE's STS-B with one gold score for all pairs, printed and kept."""
    write_stsb(tmp_path / "texts", "train", 60, seed=0)
    write_stsb(tmp_path / "texts", "validation", 12, seed=1)
    path = tmp_path / "texts/nyu-mll/glue/stsb/validation.jsonl"
    write_lines(path, [json.loads(line) | {"label": 2.5} for line in path.read_text().splitlines()])
    ended = rse(
        "fine-tune", small_model, "--suite", "glue", "--on", "STS-B", "--data", "texts", "--json", "--out", "kept",
        "--pooling", "mean", "--max-length", "16", "--epochs", "1",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    rows = strictly(ended.out)["rows"]
    assert {row["aggregation"]: row["value"] for row in rows} == {"pearson": None, "spearman": None}
    assert strictly((tmp_path / "kept/glue.json").read_text()) == strictly(ended.out)


def test_a_value_that_is_not_finite_is_null(rse, tmp_path):
    with Ledger.open(tmp_path / "studies" / "little") as ledger:
        ledger.freeze(SEARCH.model_copy(update={"kind": "grid"}))
        run(ledger, cell_of(0).model_copy(update={"stage": "grid"}), float("inf"))
    content = strictly(rse("status", "little", "--json").out)
    assert content["best"]["value"] is None
