"""What a script may ask of every verb: JSON, by the schema in docs/."""

import inspect
import json

import pytest

from rse_study.cli.app import COMMANDS, command_of
from tests.analysis import tabled
from tests.cli.output_schema import SCHEMA

ROWS = {"SimCSE": (70.0, 71.0, 72.0), "ours": (73.0, 74.5, 75.0)}


def test_the_schema_describes_each_command_that_prints_json_and_no_other():
    asked = [
        name
        for name, place in COMMANDS.items()
        if "as_json" in inspect.signature(command_of(place)).parameters
    ]
    parts = {"range", "score", "ended_cell", "ranked_trial", "problem", "data_set", "contrast"}
    assert set(asked) == set(SCHEMA["$defs"]) - parts


@pytest.fixture
def grid(tmp_path):
    return tabled.make(tmp_path / "studies" / "tabled", ROWS, baseline="SimCSE")


def told(ended, code=0):
    """Output as data; `rse` has held it against the schema."""
    assert (ended.code, ended.next) == (code, ""), ended.err
    return json.loads(ended.out)


def test_check_gives_contrasts_by_the_names_of_the_frame_and_its_exit_code(rse, grid):
    content = told(rse("check", "tabled", "--json"), 3)
    assert (content["baseline"], content["is_complete"], content["exit_code"]) == ("SimCSE", True, 3)
    assert [(one["row"], one["minus"], one["mean"]) for one in content["contrasts"] if not one["metric"]] == [
        ("ours", "SimCSE", pytest.approx(9.5 / 3))
    ]
    other = told(rse("check", "tabled", "--json", "--baseline", "ours"), 3)
    assert {one["minus"] for one in other["contrasts"]} == {"ours"}


def test_compare_gives_each_pair_with_its_verdict(rse, grid):
    (one,) = told(rse("compare", "tabled:ours", "tabled:SimCSE", "--json"))["compared"]
    assert one["by_seed"] == {"0": 3.0, "1": 3.5, "2": 3.0}
    assert one["verdict"] == "better"
    assert one["low"] < one["mean"] < one["high"]


def test_validate_gives_the_whole_study_or_every_problem(rse):
    content = told(rse("validate", "quickstart", "--json"))
    assert content["study"]["base"]["method"]["name"]
    assert content["num_cells"] == 24
    content = told(
        rse("validate", "quickstart", "--json", "-o", "seeds=[]", "-o", "objective.metric=nosuch"), 2
    )
    assert content["is_valid"] is False
    assert all(one["what"] for one in content["problems"])


def test_what_is_here_is_told_to_scripts_too(rse, grid):
    by_name = {one["name"]: one for one in told(rse("studies", "--json"))}
    assert by_name["tabled"]["text"] == "6 cells: 6 complete"
    assert by_name["quickstart"]["size"] == "3 rows x 8 seeds, 1 evaluation"
    sets = told(rse("data", "list", "--json"))["sets"]
    assert all(one["num_present"] == 0 for one in sets if one["missing"])
    needs = told(rse("data", "list", "rse_table6_mini", "--json"))
    assert needs["sets"]
    verified = told(rse("data", "verify", "--json", sets[0]["name"]))
    assert {one["name"] for one in verified} == {sets[0]["name"]}
    assert len(verified) == sets[0]["num_files"]
    assert {one["is_ok"] for one in told(rse("doctor", "--json"))} == {True, False}
