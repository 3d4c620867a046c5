"""joint.yaml, edited: valid edits are accepted, invalid ones refused where they stand, never with a traceback."""

from pathlib import Path

import pytest

from rse_study.errors import InputError, InputErrors
from rse_study.study.checking.data_check import check_data
from rse_study.study.checking.validation import check_content, read_study
from rse_study.study.definition.reading import apply_overrides
from tests.architecture.findings import require_none
from tests.study.checking import mutations

JOINT = Path(__file__).parents[3] / "search_spaces" / "joint.yaml"
WHERE = "mutated.yaml"


def lines(text, before=""):
    return [before + line.strip() for line in text.strip().splitlines()]


VALID = lines(mutations.VALID) + lines(mutations.VALID_GRIDS, mutations.GRID)
INVALID = [
    *(line for text in mutations.INVALID.values() for line in lines(text)),
    *(line for text in mutations.INVALID_GRIDS.values() for line in lines(text, mutations.GRID)),
]


@pytest.fixture
def checked(joint):
    def read(edits):
        content = joint()
        apply_overrides(content, [edit.strip() for edit in edits.split(";;")])
        return check_content(content, where=WHERE)

    return read


def shown(edit):
    return edit.removeprefix(mutations.GRID)


def test_valid_edits_are_accepted(checked):
    def wrong(edit):
        try:
            is_grid = len(checked(edit).rows) > 0
        except InputErrors as error:
            return str(error)
        return "" if is_grid == edit.startswith(mutations.GRID) else "a grid has rows, a search has none"

    require_none(f"{shown(edit)}: {said}" for edit in VALID if (said := wrong(edit)))


def test_invalid_edits_are_refused_where_they_stand(checked, tmp_path):
    def refused(edits):
        try:
            return check_data(checked(edits), tmp_path)
        except InputErrors as error:
            return error.problems

    def wrong(edit):
        edits, _, said = edit.partition(" -> ")
        path = said or edits.split(";;")[-1].split("=")[0].strip()
        problems = refused(edits)
        if not any(_names(problem, path) for problem in problems):
            return f"{path} is not blamed, but {[str(problem) for problem in problems]}"
        if not all(problem.where == WHERE and problem.rule for problem in problems):
            return f"no place or no rule in {[str(problem) for problem in problems]}"
        return ""

    require_none(f"{shown(edit)}: {said}" for edit in INVALID if (said := wrong(edit)))


def _names(problem, path):
    return problem.what == path or problem.what.startswith((f"{path} ", f"{path}:", f"{path},"))


def test_broken_files_are_refused_at_their_lines(joint_text, tmp_path):
    path = tmp_path / "broken.yaml"

    def wrong(old, new, line):
        path.write_text(joint_text.replace(old, new, 1), encoding="utf-8")
        try:
            read_study(path)
        except InputError as error:
            number = int(error.where.removeprefix(f"{path}:"))
            blamed = not line or line in path.read_text().splitlines()[number - 1]
            return "" if blamed and error.remedy else str(error)
        return "accepted"

    assert all(old in joint_text for _, old, *_ in mutations.BROKEN_TEXT)
    require_none(f"{kind}: {how[1]}: {said}" for kind, *how in mutations.BROKEN_TEXT if (said := wrong(*how)))


NO_STUDY_FILE = [
    (b"name: caf\xe9\n", "byte 9 is not UTF-8"),
    ("name: x\n".encode("utf-16"), "byte 0 is not UTF-8"),
    (b"", "the file holds no mapping"),
    (b"- a\n- b\n", "the file holds no mapping"),
    (b"just words\n", "the file holds no mapping"),
    (b"name: \x00\n", "special characters are not allowed"),
    (b"name: " + b"[" * 1000, "nested too deeply"),
]
# An odd text instead of a text in the file; at its end where that is empty.
ODD_YAML = [
    ("", "\n3: x\n", "3 = 3: a key must be a text. Write it in quotes"),
    ("", "\n~: x\n", "None = None: a key must be a text. Write it in quotes"),
    ("", "\n? [a, b]\n: x\n", "('a', 'b') = ('a', 'b'): a key must be a text. Write it in quotes"),
    ("", "\ngrid: {rows: {1: {rho: 0}}}\n", "grid.rows.1 = 1: a key must be a text. Write it in quotes"),
    ("", "\ngrid: {rows: {a: {1: 2}}}\n", "grid.rows.a.1 = 1: a key must be a text. Write it in quotes"),
    ("base: #", "base: &b\n  x: *b\n  #", "base.x: no such field of Trial"),
    ("search:\n", "search: &s\n  z: *s\n", "search.z: an axis says exactly one of"),
    ("seeds: [0]", "seeds: &s [*s]", "seeds.0: must be an integer"),
    ("name: joint", "name: 2001-01-01", "name = datetime.date(2001, 1, 1): must be a text"),
    ("seeds: [0]", "seeds: !!binary aGVsbG8=", "seeds = b'hello': must be a list"),
    ("name: joint", "name: " + "a" * 65, "must have at most 64 characters"),
]


def test_what_is_no_study_is_said(joint_text, tmp_path):
    assert all(old in joint_text for old, *_ in ODD_YAML)
    cases = [(raw, InputError, said) for raw, said in NO_STUDY_FILE]
    for old, new, said in ODD_YAML:
        text = joint_text.replace(old, new, 1) if old else joint_text + new
        cases.append((text.encode(), InputErrors, said))
    path = tmp_path / "odd.yaml"
    for raw, kind, said in cases:
        path.write_bytes(raw)
        with pytest.raises(kind) as caught:
            read_study(path)
        assert f"{path}: " in str(caught.value) and said in str(caught.value), raw


def test_line_ends_and_a_byte_order_mark_do_not_matter(joint_text, tmp_path):
    path = tmp_path / "windows.yaml"
    path.write_bytes(("\ufeff" + joint_text.replace("\n", "\r\n")).encode())
    assert read_study(path).study == read_study(JOINT).study


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_study(tmp_path / "none.yaml")
    with pytest.raises(InputError, match="no such file"):
        read_study(tmp_path)
