"""cell.json, evaluations.json and study.json: what they hold, and that damage is noticed."""

import math

import pytest

from rse_study.errors import InputError, MissingFile
from rse_study.results.files import cell_file, evaluation_file, study_file
from rse_study.results.files.atomic import write_sealed
from rse_study.results.files.cell_file import read_cell, write_cell
from rse_study.results.files.evaluation_file import read_evaluations, write_evaluations
from rse_study.results.files.study_file import read_revisions, write_revisions
from rse_study.results.study_record import Revision
from tests.cases import cases
from tests.results.world import STUDY, cell_of, score_of

GROWN = STUDY.model_copy(update={"num_trials": 9})
REVISIONS = [
    Revision(number=1, at="2026-01-01T00:00:00+00:00", change="created", study=STUDY),
    Revision(number=2, at="2026-01-02T00:00:00+00:00", change="grown", study=GROWN),
]
CELL = cell_of(3, 1, "confirm", "base").model_copy(
    update={"status": "failed", "reason": "why", "retired": True, "revision": 2, "provenance": {"threads": 1}}
)
SCORES = [score_of("a", 1.0)]
FILES = [
    (cell_file.FILE_NAME, lambda folder: write_cell(folder, CELL), read_cell),
    (evaluation_file.FILE_NAME, lambda folder: write_evaluations(folder, SCORES), read_evaluations),
    (study_file.FILE_NAME, lambda folder: write_revisions(folder, REVISIONS), read_revisions),
]
IDS = [name for name, _, _ in FILES]


def test_a_cell_and_revisions_are_read_as_they_were_and_a_study_has_one(tmp_path):
    write_cell(tmp_path, CELL)
    assert read_cell(tmp_path) == CELL
    write_revisions(tmp_path, REVISIONS)
    assert read_revisions(tmp_path) == REVISIONS
    write_revisions(tmp_path, [])
    with pytest.raises(InputError, match="no revision"):
        read_revisions(tmp_path)


@pytest.mark.parametrize("read", [read_cell, read_revisions])
def test_a_file_that_is_not_there_is_missing(tmp_path, read):
    with pytest.raises(MissingFile):
        read(tmp_path)


def test_scores_are_merged_by_subject_and_metric_and_none_is_no_error(tmp_path):
    assert read_evaluations(tmp_path) == []
    write_evaluations(tmp_path, [score_of("b", 1.0), score_of("a", 2.0)])
    write_evaluations(tmp_path, [score_of("a", 3.0), score_of("a", 4.0, "dev")])
    found = [(row.subject, row.split, row.value) for row in read_evaluations(tmp_path)]
    assert found == [("a", "dev", 4.0), ("a", "test", 3.0), ("b", "test", 1.0)]


def test_a_score_may_be_nan(tmp_path):
    write_evaluations(tmp_path, [score_of("a", math.nan), score_of("b", -math.inf)])
    first, second = read_evaluations(tmp_path)
    assert math.isnan(first.value)
    assert second.value == -math.inf


def test_scores_that_are_known_are_not_written_again_and_damaged_ones_give_way(tmp_path):
    path = write_evaluations(tmp_path, [score_of("a", 1.0)])
    before = path.stat()
    write_evaluations(tmp_path, [score_of("a", 1.0)])
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    path.write_text(path.read_text()[:-9])
    write_evaluations(tmp_path, [score_of("b", 2.0)])
    assert read_evaluations(tmp_path) == [score_of("b", 2.0)]


@cases(("name", "write", "read"), FILES, ids=IDS)
@cases("damage", [lambda t: t[: len(t) // 2], lambda t: "", lambda t: t.replace("pairs", "words")])
def test_damage_is_noticed(tmp_path, name, write, read, damage):
    write(tmp_path)
    path = tmp_path / name
    text = path.read_text()
    if name == cell_file.FILE_NAME:
        text = text.replace("why", "pairs")
    path.write_text(damage(text))
    with pytest.raises(InputError, match=name):
        read(tmp_path)


@cases(("name", "write", "read"), FILES, ids=IDS)
def test_unknown_fields_are_damage(tmp_path, name, write, read):
    kind = {"cell.json": "cell", "evaluations.json": "evaluations", "study.json": "revisions"}[name]
    write_sealed(tmp_path / name, kind, [{"colour": "red"}] if kind != "cell" else {"colour": "red"})
    with pytest.raises(InputError, match="damaged"):
        read(tmp_path)
