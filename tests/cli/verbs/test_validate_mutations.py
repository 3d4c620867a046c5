"""A sample of the edits in tests/study/checking/mutations.py through the command itself."""

import copy
import json

import pytest

from rse_study.cli.arguments import study_file
from rse_study.study.definition.reading import apply_overrides, read_extended
from tests.study.checking import mutations

INVALID = [
    before + edit.strip().partition(" -> ")[0]
    for edits, before in ((mutations.INVALID, ""), (mutations.INVALID_GRIDS, mutations.GRID))
    for text in edits.values()
    for edit in text.strip().splitlines()[::8]
]


@pytest.fixture(scope="module")
def content():
    return read_extended(study_file("joint"))


def write(content, edits, path):
    edited = copy.deepcopy(content)
    apply_overrides(edited, [edit.strip() for edit in edits.split(";;")])
    path.write_text(json.dumps(edited), encoding="utf-8")
    return path.name


@pytest.mark.parametrize("edits", INVALID)
def test_an_invalid_study_ends_with_2_and_no_traceback(rse, content, tmp_path, edits):
    ended = rse("validate", write(content, edits, tmp_path / "edited.yaml"))
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("edited.yaml: ")
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("edits", mutations.VALID.strip().splitlines()[:40:8])
def test_a_valid_study_ends_with_0(rse, content, tmp_path, edits):
    ended = rse("validate", write(content, edits, tmp_path / "edited.yaml"))
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.parametrize(("kind", "old", "new", "line"), mutations.BROKEN_TEXT[::4])
def test_a_broken_file_ends_with_2_and_its_line(rse, tmp_path, kind, old, new, line):
    text = study_file("joint").read_text(encoding="utf-8")
    (tmp_path / "broken.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
    ended = rse("validate", "broken.yaml")
    assert ended.code == 2
    assert ended.err.startswith("broken.yaml:")
    assert "Traceback" not in ended.err


def test_an_override_that_names_nothing_is_said_with_its_path(rse):
    ended = rse("validate", "joint", "-o", "sampler.nam=tpe", "-o", "gird.axes.beta=[1, 2]")
    assert ended.code == 2
    assert "sampler.nam: no such field of Sampler. Did you mean 'name'?" in ended.err
    assert "gird: no such field of Study. Did you mean 'grid'?" in ended.err
