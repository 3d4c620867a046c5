"""What a proposal costs, at toy size."""

import json

import pytest

from benchmarks import asking


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    out = tmp_path_factory.mktemp("asking") / "asking.json"
    told = "--samplers tpe nsga2 --trials 4 12 --repeat 2 --objectives 2 --busy --limit 1e-9"
    asking.main([*told.split(), "--out", str(out)])
    return json.loads(out.read_text(encoding="utf-8"))


def test_every_sampler_is_timed_and_one_that_is_too_slow_not_asked_with_more_trials(content):
    assert [row["sampler"] for row in content["rows"]] == ["tpe", "nsga2"]
    assert all(row["seconds"]["4"]["median"] > 0 for row in content["rows"])
    assert content["machine"]["cores"] > 0
    assert all(row["seconds"].keys() == {"4"} for row in content["rows"])


def test_a_table_has_a_dash_where_nothing_was_asked():
    one = {"median": 1.0, "least": 1.0, "greatest": 2.0}
    rows = [{"sampler": "tpe", "seconds": {4: one, 12: one}}, {"sampler": "gp", "seconds": {4: one}}]
    assert asking.table_cells(rows)[1] == ["gp", "1 (1 to 2)", "-"]
