"""joint.yaml, edited: valid edits are accepted, invalid ones refused where they stand, never with a traceback."""

from pathlib import Path

import pytest

from rse_study.errors import InputError, InputErrors
from rse_study.study.checking.data_check import check_data
from rse_study.study.checking.validation import check_content, read_study
from rse_study.study.definition.reading import apply_overrides
from tests.cases import cases
from tests.study.checking import invalid_edits, valid_edits
from tests.study.checking.edits import GRID, lines

JOINT = Path(__file__).parents[3] / "search_spaces" / "joint.yaml"
WHERE = "mutated.yaml"

VALID = lines(valid_edits.SEARCHES) + lines(valid_edits.GRIDS, GRID)
INVALID = [
    *(line for text in invalid_edits.SEARCHES.values() for line in lines(text)),
    *(line for text in invalid_edits.GRIDS.values() for line in lines(text, GRID)),
]


@pytest.fixture
def checked(joint):
    def read(edits):
        content = joint()
        apply_overrides(content, [edit.strip() for edit in edits.split(";;")])
        return check_content(content, where=WHERE)

    return read


def shown(edit):
    return edit.removeprefix(GRID)


@cases("edit", VALID, ids=shown)
def test_a_valid_edit_is_accepted(checked, edit):
    assert (len(checked(edit).rows) > 0) == edit.startswith(GRID)


@cases("edit", INVALID, ids=shown)
def test_an_invalid_edit_is_refused_where_it_stands(checked, tmp_path, edit):
    edits, _, said = edit.partition(" -> ")
    path = said or edits.split(";;")[-1].split("=")[0].strip()
    try:
        problems = check_data(checked(edits), tmp_path)
    except InputErrors as error:
        problems = error.problems
    assert any(_names(problem, path) for problem in problems), [str(problem) for problem in problems]
    assert all(problem.where == WHERE for problem in problems)
    assert all(problem.rule and problem.remedy for problem in problems), [
        str(problem) for problem in problems
    ]


def _names(problem, path):
    return problem.what == path or problem.what.startswith((f"{path} ", f"{path}:", f"{path},"))


# A text in the file, what stands there instead, and the line that is blamed.
BROKEN_TEXT = [
    ("duplicate key", "encoder: {name: tiny,", "encoder: {name: tiny, name: tiny,", "  encoder: "),
    ("broken YAML", "search:\n", "search:\n\talpha: 1\n", "\talpha"),
    ("broken YAML", "search_seed: 0\n", "search_seed: *nothing\n", "search_seed: *nothing"),
    ("two documents", "search:\n", "---\nsearch:\n", ""),
    ("another version", "# yaml-language-server", "%YAML 1.1\n---\n# yaml-language-server", "%YAML 1.1"),
]


@cases(("kind", "old", "new", "line"), BROKEN_TEXT)
def test_a_broken_file_is_refused_at_its_line(joint_text, tmp_path, kind, old, new, line):
    assert old in joint_text
    path = tmp_path / "broken.yaml"
    path.write_text(joint_text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_study(path)
    assert caught.value.where.startswith(f"{path}:")
    if line:
        number = int(caught.value.where.rsplit(":", 1)[1])
        assert line in path.read_text().splitlines()[number - 1]
    assert caught.value.remedy


@cases(
    ("raw", "said"),
    [
        ("name: x\n".encode("utf-16"), "byte 0 is not UTF-8"),
        (b"", "the file holds no mapping"),
        (b"name: \x00\n", "special characters are not allowed"),
        (b"name: " + b"[" * 1000, "nested too deeply"),
    ],
)
def test_what_is_no_study_file_is_said(tmp_path, raw, said):
    path = tmp_path / "odd.yaml"
    path.write_bytes(raw)
    with pytest.raises(InputError, match=said):
        read_study(path)


ODD_KEYS = [
    ("\n3: x\n", "3 = 3: a key must be text. Write it in quotes"),
    ("\n~: x\n", "None = None: a key must be text. Write it in quotes"),
    ("\ngrid: {rows: {1: {rho: 0}}}\n", "grid.rows.1 = 1: a key must be text. Write it in quotes"),
    ("\ngrid: {rows: {a: {1: 2}}}\n", "grid.rows.a.1 = 1: a key must be text. Write it in quotes"),
]


@cases(("text", "said"), ODD_KEYS)
def test_a_key_is_a_text(joint_text, tmp_path, text, said):
    path = tmp_path / "odd.yaml"
    path.write_text(joint_text + text, encoding="utf-8")
    with pytest.raises(InputErrors) as caught:
        read_study(path)
    assert f"{path}: {said}" in str(caught.value).splitlines()


@cases(
    ("old", "new", "said"),
    [
        ("base: #", "base: &b\n  x: *b\n  #", "nested too deeply"),
        ("seeds: [0]", "seeds: !!binary aGVsbG8=", "only texts, numbers, lists and mappings are read"),
        ("seeds: [0]", "seeds: [0]\n? [a, b]\n: x", "only texts, numbers, lists and mappings are read"),
        ("name: joint", "name: " + "a" * 65, "must have at most 64 characters"),
    ],
)
def test_what_yaml_can_say_and_a_study_cannot_is_refused(joint_text, tmp_path, old, new, said):
    assert old in joint_text
    path = tmp_path / "odd.yaml"
    path.write_text(joint_text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_study(path)
    assert said in str(caught.value)


def test_line_ends_and_a_byte_order_mark_do_not_matter(joint_text, tmp_path):
    path = tmp_path / "windows.yaml"
    path.write_bytes(("\ufeff" + joint_text.replace("\n", "\r\n")).encode())
    assert read_study(path).study == read_study(JOINT).study
