"""A real grid whose rows get seeds until decided, and its neighbour that takes its cells."""

import pytest

from rse_study.on_ray.driver import run_study
from rse_study.results.reader import Reader
from rse_study.search.state import SearchState
from tests.on_ray.listener import Listener
from tests.on_ray.world import checked_of, few, grid_of

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray")]
AT_MOST = 7


def test_decided_rows_get_no_more_seeds_and_a_neighbour_takes_the_cells_and_decides_the_same(
    study_content, materials, tmp_path, cluster
):
    """Two rows: one as good as the baseline whatever the seed, one that is never decided."""
    rows = {"base": {}, "alike": {"alpha": 1.01e-5}, "open": {"optimizer.lr": 1e-3}}
    until = {"until": "decided", "at_least": 3, "at_most": AT_MOST}

    def ran(name):
        content = grid_of(study_content, grid={"rows": rows, "baseline": "base"}, seeds=until, name=name)
        checked = checked_of(content | {"resources": {"max_concurrent": 2}})
        folder = run_study(
            checked, tmp_path / name, lambda trial: materials, few, Listener(), address=cluster
        )
        with Reader(folder) as reader:
            cells = reader.trials_table().drop(columns="duration_s").to_dict("records")
            return cells, SearchState.read(reader), len(reader.attempts())

    cells, state, _ = ran("whole")
    decided, undecided = state.rows.courses.values()
    assert 3 < decided.num_seeds < AT_MOST
    assert (undecided.verdict, undecided.num_seeds) == ("undecided", AT_MOST)
    assert state.counts["complete"] == state.counts["planned"] == 2 * AT_MOST + decided.num_seeds
    again, _, num_attempts = ran("another")
    assert again == cells
    assert num_attempts == 0
