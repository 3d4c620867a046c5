import os
from functools import partial
from pathlib import Path

import pytest

from rse_study.errors import InputError, InputErrors
from rse_study.study.checking.validation import read_study
from rse_study.study.definition.paths import overlay
from rse_study.study.definition.reading import read_extended, read_spec, require_kind
from rse_study.study.definition.shipped import shipped_clusters, shipped_studies, shipped_trials
from rse_study.training.trial import Trial
from tests.cases import cases
from tests.study.no_search import ONLY_SEARCH

JOINT = Path(__file__).parents[3] / "search_spaces" / "joint.yaml"


def write(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_what_lies_over_replaces_an_axis_as_a_whole_and_null_takes_it_away():
    below = {"search": {"rho": {"float": [0, 1]}, "phi": {"float": [0, 0.3]}}}
    above = {"search": {"rho": {"choice": [0, 1]}, "phi": None}}
    assert overlay(below, above) == {"search": {"rho": {"choice": [0, 1]}}}
    below, above = ({"grid": {"factorial": {"k": {"variants": {name: {}}}}}} for name in ("a", "b"))
    assert overlay(below, above) == above
    below, above = {"base": {"rtd": {"choice": "sample", "share": 0.5}}}, {"base": {"rtd": {"share": 0.3}}}
    assert overlay(below, above) == {"base": {"rtd": {"choice": "sample", "share": 0.3}}}
    below = {"grid": {"axes": {"beta": {"choice": [1, 2], "into": ["x"]}}, "rows": {"a": {"rho": 1}}}}
    above = {"grid": {"axes": {"beta": [3, 4]}, "rows": {"a": {"lambda1": 2}, "b": {}}}}
    expected = {"grid": {"axes": {"beta": [3, 4]}, "rows": {"a": {"rho": 1, "lambda1": 2}, "b": {}}}}
    assert overlay(below, above) == expected


@cases(
    ("read", "given", "said"),
    [
        (
            partial(read_spec, Trial),
            "extends: quickstart",
            "is a study: a trial is expected.*run .*mine.yaml",
        ),
        (read_study, "encoder: {name: tiny}", "is a trial: .*Give it to: rse-study train .*mine.yaml"),
        (read_study, "extends: slurm", "is a cluster: .*rse-study cluster validate .*mine.yaml STUDY"),
    ],
)
def test_a_file_of_another_kind_is_refused_with_the_command_that_takes_it(read, given, said, tmp_path):
    with pytest.raises(InputError, match=said):
        read(write(tmp_path / "mine.yaml", f"{given}\nname: mine\n"))


def test_every_shipped_file_is_of_its_kind():
    kinds = {"study": shipped_studies(), "trial": shipped_trials(), "cluster": shipped_clusters()}
    for kind, paths in kinds.items():
        for path in paths:
            require_kind(read_extended(path), kind, where=str(path))


def test_a_file_lies_over_one_or_several_each_over_those_before_it(tmp_path):
    write(tmp_path / "one.yaml", "a: 1\nb: 1\nc: 1\nd: {x: 1, y: 1}\n")
    write(tmp_path / "two.yaml", "b: 2\nc: 2\nd: {y: 2, z: 2}\n")
    path = write(tmp_path / "over.yaml", "extends: [one.yaml, two.yaml]\nc: 3\n")
    assert read_extended(path) == {"a": 1, "b": 2, "c": 3, "d": {"x": 1, "y": 2, "z": 2}}
    path.write_text("extends: [two.yaml, one.yaml]\nc: 3\n")
    assert read_extended(path) == {"a": 1, "b": 1, "c": 3, "d": {"x": 1, "y": 1, "z": 2}}
    write(tmp_path / "one.yaml", "a: 1\nb: {c: 2}\n")
    path = write(tmp_path / "over.yaml", "extends: [one.yaml]\nb: {c: 3}\n")
    assert read_extended(path) == {"a": 1, "b": {"c": 3}}
    path.write_text("extends: []\nb: {c: 3}\n")
    assert read_extended(path) == {"b": {"c": 3}}
    write(tmp_path / "one.yaml", "confirm: {seeds: [1]}\nsearch: {rho: {float: [0, 1]}}\n")
    write(tmp_path / "two.yaml", "confirm: null\nsearch: {rho: {choice: [0, 1]}}\n")
    path = write(tmp_path / "over.yaml", "extends: [one.yaml, two.yaml]\n")
    assert read_extended(path) == {"search": {"rho": {"choice": [0, 1]}}}


@cases(
    ("over", "culprit"),
    [
        ("extends: over.yaml\n", "over.yaml: extends = 'over.yaml'"),
        ("extends: [fine.yaml, over.yaml]\n", "over.yaml: extends = 'over.yaml'"),
        ("extends: [fine.yaml, back.yaml]\n", "over.yaml: extends = 'back.yaml'"),
    ],
)
def test_a_circle_through_any_of_several_is_refused(tmp_path, over, culprit):
    write(tmp_path / "fine.yaml", "a: 1\n")
    write(tmp_path / "back.yaml", "extends: [fine.yaml, over.yaml]\n")
    path = write(tmp_path / "over.yaml", over)
    with pytest.raises(InputError, match="the files extend each other in a circle") as caught:
        read_extended(path)
    assert culprit in str(caught.value)


def test_a_shipped_study_is_extended_by_its_name(tmp_path):
    path = write(tmp_path / "mine.yaml", "extends: rse_table6_mini\nname: mine\nseeds: [7]\n")
    found = read_extended(path)
    assert (found["name"], found["seeds"], found["paper"]["table"]) == ("mine", [7], "rse-table6")
    write(tmp_path / "rse_table6_mini", "name: beside\nrows: 1\n")  # a file of that name comes first
    assert read_extended(path) == {"name": "mine", "rows": 1, "seeds": [7]}


def test_an_extended_file_is_found_beside_then_in_the_working_folder_then_in_the_data_folder(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("RSE_STUDY_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    path = write(tmp_path / "beside" / "mine.yaml", "extends: base.yaml\n")
    monkeypatch.chdir(write(tmp_path / "working" / "other.yaml", "a: 1\n").parent)
    for folder in ("data", "working", "beside"):
        write(tmp_path / folder / "base.yaml", f"folder: {folder}\n")
        assert read_extended(path) == {"folder": folder}
    write(tmp_path / "home" / "base.yaml", "folder: home\n")
    assert read_extended(write(path, "extends: ~/base.yaml\n")) == {"folder": "home"}


def test_the_one_of_several_that_is_missing_is_named_and_no_other(tmp_path):
    write(tmp_path / "one.yaml", "a: 1\n")
    path = write(tmp_path / "over.yaml", "extends: [one.yaml, nowhere.yaml]\n")
    with pytest.raises(InputError) as caught:
        read_extended(path)
    assert f"{path}: extends = 'nowhere.yaml': no such file: looked for in {tmp_path}, " in str(caught.value)
    assert str(caught.value).endswith(". Check the path; a shipped study is given by its name")
    write(tmp_path / "b.yaml", "extends: nowhere.yaml\n")
    path = write(tmp_path / "a.yaml", "extends: b.yaml\n")
    with pytest.raises(InputError, match=r"b\.yaml: extends"):
        read_extended(path)


@cases(
    "name",
    ["x" * 300, "x" * 300 + ".yaml", "a/" * 3_000, r'"a\0b"', "circle.yaml", "pipe.yaml", "/dev/urandom"],
)
def test_a_path_that_cannot_be_extended_is_refused_with_its_remedy(tmp_path, name):
    (tmp_path / "circle.yaml").symlink_to("round.yaml")
    (tmp_path / "round.yaml").symlink_to("circle.yaml")
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(InputError) as caught:
        read_extended(write(tmp_path / "over.yaml", f"extends: {name}\n"))
    assert caught.value.remedy
    assert len(caught.value.what) < 300


@cases(
    ("written", "shown"),
    [
        ("3", "3"),
        ("[one.yaml, 3]", "['one.yaml', 3]"),
        ("{a: one.yaml}", "{'a': 'one.yaml'}"),
        ("[[one.yaml]]", ""),
    ],
)
def test_what_is_extended_must_be_a_path_or_several(tmp_path, written, shown):
    write(tmp_path / "one.yaml", "a: 1\n")
    path = write(tmp_path / "over.yaml", f"extends: {written}\n")
    with pytest.raises(InputError, match="must be the path of a file, or a list of them") as caught:
        read_extended(path)
    assert str(caught.value).startswith(f"{path}: extends = {shown}")


def test_an_override_names_a_field_by_the_end_of_its_path_and_nothing_is_told_what_was_meant(tmp_path):
    path = tmp_path / "trial.yaml"
    path.write_text("method: {lambda2: 0}\n")
    trial = read_spec(Trial, path, ["pgd.num_steps=3", "lr=1/1000", "method.temperature=0.1"])
    assert trial.method.blend.pgd.num_steps == 3
    assert trial.optimizer.lr == 1e-3
    assert trial.method.temperature == 0.1
    path.write_text("method: {lambda2: 0}\n")
    with pytest.raises(InputError, match=r"-o: pgd.num_step: no such field of PGD. Did you mean 'num_steps'"):
        read_spec(Trial, path, ["pgd.num_step=3"])
    with pytest.raises(InputError, match="an override is path=value"):
        read_spec(Trial, path, ["num_trials"])
    with pytest.raises(InputErrors) as caught:
        read_study(JOINT, ["resources.worker=2", "serch.rho=null", "base.method.blend.roh=1"])
    expected = ["base.method.blend.roh", "resources.worker", "serch"]
    assert [problem.what for problem in caught.value.problems] == expected


GRID_FILE = """
extends: {joint}
name: rows
{nulls}
grid:
  axes:
    beta: [1e-3, 1e-2]
    pgd.ball.norm: {{choice: [l1, l2], into: [pgd.ball.norm, fgsm.ball.norm, token_level.ball.norm]}}
  rows: {{paper: {{}}}}
seeds: [0, 1]
"""


@pytest.fixture
def grid_file(tmp_path):
    """A grid that extends a search: it takes away what belongs to a search only."""
    nulls = "\n".join(f"{name}: null" for name in ONLY_SEARCH)
    return write(tmp_path / "grid.yaml", GRID_FILE.format(joint=JOINT, nulls=nulls))


def test_a_grid_may_extend_a_search_but_not_keep_what_belongs_to_one(grid_file):
    checked = read_study(grid_file)
    assert checked.study.search is None
    assert [row.label for row in checked.rows] == ["", "", "", "", "paper"]
    assert checked.rungs == ()
    grid_file.write_text(grid_file.read_text().replace("search: null\nnum_trials: null\n", ""))
    with pytest.raises(InputErrors, match="grid: a study is a grid or a search, never both"):
        read_study(grid_file)
    grid_file.write_text(grid_file.read_text().replace("sampler: null\n", "search: null\n"))
    with pytest.raises(InputErrors) as caught:
        read_study(grid_file)
    assert [problem.what for problem in caught.value.problems] == ["num_trials", "sampler"]
    assert "`num_trials: null`" in str(caught.value)
