"""Study folders of code that computed other numbers: a grid runs anew beside what it had, a search is refused.

The folders are a copy of tests/fixtures/other_numbers, whose README says how they were made.
"""

from pathlib import Path

import pytest

from rse_study.results.files.ledger import Ledger
from tests.on_ray.test_earlier_study import Contents, called_in_a_copy, rse

pytestmark = pytest.mark.xdist_group("ray")

FIXTURE = Path(__file__).parents[1] / "fixtures" / "other_numbers"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    with called_in_a_copy(FIXTURE, tmp_path_factory.mktemp("other") / "study") as copied:
        yield copied


def test_it_is_reported_as_it_was(folder):
    ended = rse("check", "old_grid")
    assert ended.code == 3, ended.out  # its rows are of no paper
    rows = ended.out.partition("before training")[2].splitlines()[1:4]
    assert [line.split()[-2:] for line in rows] == [["2", "a"]] * 3  # seeds and group


@pytest.mark.slow
def test_a_grid_runs_anew_and_loses_nothing(folder, cluster):
    study_dir = folder / "studies" / "old_grid"
    before = Contents.of(study_dir)
    ended = rse("run", "old_grid.yaml", "--address", cluster)
    assert ended.code == 0, ended.out
    after = Contents.of(study_dir)
    assert {identity: after.cells[identity] for identity in before.cells} == before.cells
    new = after.cells.keys() - before.cells.keys()
    assert {after.numbers[identity] for identity in new} == set(before.numbers.values())
    with Ledger.open(study_dir) as ledger:
        retired = {cell.identity for cell in ledger.cells() if cell.retired}
    assert retired == set(before.cells)


def test_a_search_says_that_its_trials_were_others(folder, cluster):
    study_dir = folder / "studies" / "old_search"
    before = Contents.of(study_dir)
    ended = rse("run", "old_search.yaml", "--address", cluster, "-o", "num_trials=5")
    assert ended.code == 2
    assert "trial 0 was another cell when it ran" in ended.out
    assert "the code's numbers, and its code computes other numbers" in " ".join(ended.out.split())
    assert Contents.of(study_dir) == before
