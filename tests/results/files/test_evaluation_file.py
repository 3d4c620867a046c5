"""evaluations.json: what a worker hands over, and that damage is noticed."""

import math

from rse_study.results.files.atomic import write_sealed
from rse_study.results.files.evaluation_file import EVALUATIONS_FILE, read_evaluations, write_evaluations
from tests.cases import cases
from tests.results.world import score_of


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


@cases(
    "damage",
    [
        lambda t: t[: len(t) // 2],
        lambda t: "",
        lambda t: t.replace("pairs", "words"),
        lambda t: t.replace("9", "8"),
    ],
)
def test_scores_in_a_damaged_file_are_none(tmp_path_factory, damage):
    folder = tmp_path_factory.mktemp("cell")
    path = write_evaluations(folder, [score_of("a", 1.0)])
    path.write_text(damage(path.read_text()))
    assert read_evaluations(folder) == []


def test_rows_of_unknown_fields_are_none(tmp_path):
    write_sealed(tmp_path / EVALUATIONS_FILE, "evaluations", [{"colour": "red"}])
    assert read_evaluations(tmp_path) == []
