"""`studies`: what there is to run, and what has run."""

import pytest

from rse_study.cli.verbs.studies import GROUPS, size_of
from rse_study.results.files.ledger import Ledger
from rse_study.study.definition.reading import read_extended
from rse_study.study.definition.shipped import shipped_studies
from tests.cli.a_study import SEARCH, cell_of, run, start


def test_what_has_run_here_comes_first_then_shipped_studies_by_group(rse, tmp_path):
    with Ledger.open(tmp_path / "studies" / "little") as ledger:
        ledger.freeze(SEARCH)
        run(ledger, cell_of(0), 50.0)
        start(ledger, cell_of(1))
        ended = rse("studies")
    lines = ended.out.splitlines()
    assert ended.code == 0
    assert lines[:2] == [
        "in studies, for `rse-study status`, `report` and others:",
        "  little: 6 cells: 1 complete, 1 running, 4 to run",
    ]
    assert "  little: 6 cells: 1 complete, 4 to run, 1 interrupted" in rse("studies").out.splitlines()
    headings = [line for line in lines if not line.startswith("  ")]
    assert [line.partition(" (/")[0] for line in headings[1:]] == list(GROUPS.values())
    assert "  tiny_simcse: encoder tiny (60 steps)" in lines


def test_tags_of_a_study_are_shown_and_found(rse, tmp_path):
    tagged = SEARCH.model_copy(update={"resolved": {**SEARCH.resolved, "tags": ["pilot", "norms"]}})
    with Ledger.open(tmp_path / "studies" / "little") as ledger:
        ledger.freeze(tagged)
    assert "  little: 6 cells: 6 to run [pilot, norms]" in rse("studies", "pilot").out.splitlines()


def test_words_filter_by_name_question_and_folder(rse):
    lines = rse("studies", "Norm", "minilm").out.splitlines()
    assert [line.partition(":")[0] for line in lines if line.startswith("  ")] == ["  rse_table5_minilm"]
    assert rse("studies", "nosuchword").out.startswith("No study has 'nosuchword' in its name")


def test_a_grid_is_as_large_as_its_rows_and_seeds():
    axes = {"rho": [0, 0.5], "N": {"int": [1, 3]}, "norm": {"choice": ["l1", "l2"], "into": ["ball.norm"]}}
    assert size_of({"grid": {"axes": axes, "rows": {"ours": {}}}, "seeds": [0, 1]}) == "13 rows x 2 seeds"
    assert size_of({"grid": {"rows": {"ours": {}, "theirs": {}}}}) == "2 rows x 1 seed"
    asked = {"grid": {"rows": {"ours": {}}}, "seeds": [0, 1], "evaluations": ["STS-B/test"]}
    assert size_of(asked) == "1 row x 2 seeds, 1 evaluation"


@pytest.mark.parametrize(("name", "num_evaluations"), [("rse_figure2", 5), ("rse_table1", 35)])
def test_a_pattern_counts_as_all_evaluations_that_match_it(name, num_evaluations):
    """Their files have 1 and 7 patterns, each of a set's 5 attacks."""
    (path,) = (path for path in shipped_studies() if path.stem == name)
    assert size_of(read_extended(path)).endswith(f", {num_evaluations} evaluations")
