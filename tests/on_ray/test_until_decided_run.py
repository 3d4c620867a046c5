"""A real grid whose rows get seeds until decided: interrupted round after round, and taken from a neighbour."""

import pytest

from rse_study.results.reader import Reader
from rse_study.search.state import SearchState
from tests.on_ray.interrupted import Interrupts, ledger_rows, run
from tests.on_ray.world import checked_of, grid_of

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray")]
AT_MOST = 7


def grid(content, name):
    """Two rows: one as good as the baseline whatever the seed, one that is never decided."""
    rows = {"base": {}, "alike": {"alpha": 1.01e-5}, "open": {"optimizer.lr": 1e-3}}
    until = {"until": "decided", "at_least": 3, "at_most": AT_MOST}
    content = grid_of(content, grid={"rows": rows, "baseline": "base"}, seeds=until, name=name)
    return checked_of(content | {"resources": {"max_concurrent": 2}})


@pytest.fixture(scope="module")
def whole(study_content, materials, tmp_path_factory, cluster):
    folder = tmp_path_factory.mktemp("whole") / "whole"
    return run(grid(study_content, "whole"), folder, materials, cluster)


def counts(folder):
    with Reader(folder) as reader:
        state = SearchState.read(reader)
        return state.counts, [(one.verdict, one.num_seeds) for one in state.rows.courses.values()]


def test_decided_rows_get_no_more_seeds_and_interrupted_again_and_again_it_comes_to_the_same(
    whole, study_content, materials, tmp_path, cluster
):
    planned, courses = counts(whole)
    (_, fewer), undecided = courses
    assert 3 < fewer < AT_MOST
    assert undecided == ("undecided", AT_MOST)
    assert planned["complete"] == planned["planned"] == 2 * AT_MOST + fewer
    checked, folder, num_interrupts = grid(study_content, "whole"), tmp_path / "whole", 0
    while True:
        try:
            run(checked, folder, materials, cluster, Interrupts("grid", 4))
            break
        except KeyboardInterrupt:
            num_interrupts += 1
    assert num_interrupts >= 3
    assert ledger_rows(folder) == ledger_rows(whole)


def test_a_neighbours_cells_are_taken_round_by_round_and_decide_the_same(
    whole, study_content, materials, cluster
):
    folder = run(grid(study_content, "another"), whole.parent / "another", materials, cluster)
    assert ledger_rows(folder) == ledger_rows(whole)
    with Reader(folder) as reader:
        assert reader.attempts().empty
