"""Two studies of one store that share a row: it is trained once."""

import pytest

from rse_study.on_ray.driver import run_study
from rse_study.results.files.ledger import Ledger
from tests.on_ray.listener import Listener
from tests.on_ray.world import checked_of, few, grid_of

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray")]


@pytest.fixture(scope="module")
def run(study_content, materials, tmp_path_factory, cluster):
    """Runs a grid of that name over rho; returns what was heard, its attempts, scores and cells."""
    store = tmp_path_factory.mktemp("store")

    def run(name, values):
        grid = {"axes": {"rho": values}}
        content = grid_of(study_content, name=name, grid=grid, evaluations=["builtin/test"])
        checked, listener = checked_of(content), Listener()
        run_study(checked, store / name, lambda trial: materials, few, listener, address=cluster)
        with Ledger.open(store / name) as ledger:
            rho = {cell.identity: cell.proposal["rho"] for cell in ledger.cells()}
            scores = {rho[row.subject]: row.value for row in ledger.evaluations() if row.subject in rho}
            attempts = [rho[attempt.cell] for attempt in ledger.attempts()]
            return listener, attempts, scores, [cell.status for cell in ledger.cells()]

    return run


def test_a_row_of_two_studies_is_trained_once(run):
    _, _, first, _ = run("first", [0.0, 0.5])
    heard, attempts, second, statuses = run("second", [0.5, 1.0])
    assert attempts == [1.0]
    assert statuses == ["complete", "complete"]
    assert second[0.5] == first[0.5]
    assert set(second) == {0.5, 1.0}
    assert "1 of 2 cells are taken from first" in heard.heard
    assert len(heard.found_cells) == 1
