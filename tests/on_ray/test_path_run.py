"""A real search with an ablation path, and rebuilt; tests/simulation interrupts one."""

import shutil

import pytest

from rse_study.cli.verbs.status.content import state_of
from rse_study.results.files.schema import ledger_path
from rse_study.results.reader import Reader
from rse_study.search.state import SearchState
from tests.on_ray.interrupted import ledger_rows, run
from tests.on_ray.world import checked_of

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray")]
NUM_PATH_CELLS = 4 * 2 - 2
"""Four points, two seeds; both ends share seed 1 with the confirmation."""


@pytest.fixture(scope="module")
def checked(study_content):
    path = {"confirm": {"seeds": [1]}, "ablation_path": {"seeds": [1, 2]}}
    return checked_of(study_content | path | {"resources": {"max_concurrent": 1}})


@pytest.fixture(scope="module")
def whole(checked, materials, tmp_path_factory, cluster):
    return run(checked, tmp_path_factory.mktemp("whole") / "little", materials, cluster)


def test_a_path_runs_to_the_best_trial(whole):
    with Reader(whole) as reader:
        cells, state, counts = reader.cells(), SearchState.read(reader).path, SearchState.read(reader).counts
    assert state.is_over
    assert sorted(one.accepted for one in state.rounds) == ["alpha", "rho"]
    done = 4 + NUM_PATH_CELLS
    assert {name: n for name, n in counts.items() if n} == {"planned": done, "complete": done}
    own = cells[cells["stage"] == "path"]
    assert len(own) == NUM_PATH_CELLS
    assert set(own["trial"]) == {0, 1, -2, -3}
    assert set(own.loc[own["trial"] >= 0, "seed"]) == {2}  # seed 1 of both ends is the confirmation's
    assert set(own["label"]) == {"base", "", "base with alpha", "base with rho"}
    status = state_of(whole)
    assert status.is_complete and status.eta_s == 0


def test_a_path_is_rebuilt_from_its_files_without_a_run(checked, whole, materials, tmp_path, cluster):
    folder = tmp_path / "little"
    shutil.copytree(whole, folder)
    ledger_path(folder).unlink()
    run(checked, folder, materials, cluster)
    assert ledger_rows(folder) == ledger_rows(whole)
    with Reader(folder) as reader, Reader(whole) as before:
        assert len(reader.attempts()) == len(before.attempts())
        assert SearchState.read(reader).path.is_over
