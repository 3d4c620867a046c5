"""Whatever a command prints with --json a strict reader can read: RFC 8259 knows neither NaN nor infinity."""

import json
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import rse_study.cli
from rse_study.cli.terminal.screen import json_of
from rse_study.results.files.ledger import Ledger
from tests.cli.a_study import SEARCH, cell_of, run

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
    assert writers == {"screen.py", "studies.py"}  # the latter writes a schema, which has no numbers


def test_a_value_that_is_not_finite_is_null(rse, tmp_path):
    with Ledger.open(tmp_path / "studies" / "little") as ledger:
        ledger.freeze(SEARCH.model_copy(update={"kind": "grid"}))
        run(ledger, cell_of(0).model_copy(update={"stage": "grid"}), float("inf"))
    content = strictly(rse("status", "little", "--json").out)
    assert content["best"] is None
