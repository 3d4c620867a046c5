"""An edit of each kind in tests/study/checking/mutations.py through the command itself."""

import copy
import json

import pytest

from rse_study.cli.arguments.study import study_file
from rse_study.study.definition.reading import apply_overrides, read_extended
from tests.study.checking import mutations

INVALID = {
    (kind, before): before + text.strip().splitlines()[0].partition(" -> ")[0]
    for edits, before in ((mutations.INVALID, ""), (mutations.INVALID_GRIDS, mutations.GRID))
    for kind, text in edits.items()
}
BROKEN = {kind: (old, new) for kind, old, new, _ in mutations.BROKEN_TEXT}


@pytest.fixture(scope="module")
def content():
    return read_extended(study_file("joint"))


def write(content, edits, path):
    edited = copy.deepcopy(content)
    apply_overrides(edited, [edit.strip() for edit in edits.split(";;")])
    path.write_text(json.dumps(edited), encoding="utf-8")
    return path.name


def test_an_invalid_study_ends_with_2_and_no_traceback(rse, content, tmp_path):
    for kind, edits in INVALID.items():
        ended = rse("validate", write(content, edits, tmp_path / "edited.yaml"))
        assert (ended.code, ended.out) == (2, ""), kind
        assert ended.err.startswith("edited.yaml: "), kind
        assert "Traceback" not in ended.err


def test_a_valid_study_ends_with_0(rse, content, tmp_path):
    for edits in mutations.VALID.strip().splitlines()[:40:20]:
        ended = rse("validate", write(content, edits, tmp_path / "edited.yaml"))
        assert (ended.code, ended.err) == (0, ""), edits


def test_a_broken_file_ends_with_2_and_its_line(rse, tmp_path):
    text = study_file("joint").read_text(encoding="utf-8")
    for kind, (old, new) in BROKEN.items():
        (tmp_path / "broken.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
        ended = rse("validate", "broken.yaml")
        assert ended.code == 2, kind
        assert ended.err.startswith("broken.yaml:"), kind
        assert "Traceback" not in ended.err


def test_an_override_that_names_nothing_is_said_with_its_path(rse):
    ended = rse("validate", "joint", "-o", "sampler.nam=tpe", "-o", "gird.axes.beta=[1, 2]")
    assert ended.code == 2
    assert "sampler.nam: no such field of Sampler. Did you mean 'name'?" in ended.err
    assert "gird: no such field of Study. Did you mean 'grid'?" in ended.err
