"""Cells that share a process: none knows what ran there before, each is that of the loop alone, and is scored there.

Two grids of the same cells in opposite order, on one CPU and so in one process each.
"""

import pytest

from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder
from rse_study.on_ray.driver import run_study
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import read_result
from rse_study.results.files.schema import cell_folder
from rse_study.training.loop import train
from rse_study.training.trial import Trial
from tests.on_ray.listener import Listener
from tests.on_ray.world import checked_of, few, grid_of

pytestmark = [pytest.mark.xdist_group("cells_in_one_process"), pytest.mark.slow]
ROWS = {
    "strong": {"alpha": 1e-3},
    "lost": {"optimizer.lr": 1e30},
    "large": {"batch_size": 8, "max_length": 8},
    "plain": {"preset": "simcse"},
}


@pytest.fixture(scope="module", params=["inline", "train"])
def ran(request, study_content, materials, cluster, tmp_path_factory):
    """(folder, diary) of the grid in its order and in the opposite one."""

    def run(name, rows):
        asked = {"evaluations": ["builtin/test"], "resources": {"executor": request.param}}
        content = grid_of(study_content, grid={"rows": rows}, **asked)
        checked, diary = checked_of(content), Listener()
        folder = tmp_path_factory.mktemp(request.param) / name
        return run_study(checked, folder, lambda trial: materials, few, diary, address=cluster), diary

    return run("forth", ROWS), run("back", dict(reversed(ROWS.items())))


def results(folder, diary):
    """What each cell came to, by its identity, and the identities in the order in which they ran."""
    with Ledger.open(folder) as ledger:
        by_number = {cell.trial: cell.identity for cell in ledger.cells()}
    cells = [by_number[number] for number, _ in diary.started_cells]
    read = (read_result(cell_folder(folder, cell)) for cell in cells)
    return {result.identity: (result.status, result.history, result.final) for result in read}, cells


def test_a_cell_is_the_same_whatever_ran_before_it(ran):
    (forth, order), (back, reverse) = (results(*one) for one in ran)
    assert order == reverse[::-1]
    assert len(order) == len(ROWS)
    assert sorted(status for status, _, _ in forth.values()) == ["complete", "complete", "complete", "failed"]
    assert forth == back


def test_a_cell_has_the_history_that_the_loop_alone_gives_it_and_a_lost_loss_fails(ran, materials, tmp_path):
    folder, diary = ran[0]
    with Ledger.open(folder) as ledger:
        cell, lost = ledger.cells()[:2]
        outcomes = [[one.outcome for one in ledger.attempts([tried.identity])] for tried in (cell, lost)]
    assert outcomes == [["complete"], ["failed"]]
    assert "the loss is not finite" in lost.reason
    list(train(Trial.model_validate(cell.config), 0, materials, tmp_path / "alone"))
    found, wanted = read_result(cell_folder(folder, cell.identity)), read_result(tmp_path / "alone")
    assert (found.history, found.final) == (wanted.history, wanted.final)
    assert ("progressed", 0, 2, 3) in diary.events


def test_each_is_scored_where_it_was_trained(ran):
    for folder, diary in ran:
        late = [said for said in diary.heard if said.startswith("evaluations:")]  # baselines are no cells
        assert not late, late
        with Ledger.open(folder) as ledger:
            complete = [cell for cell in ledger.cells() if cell.status == "complete"]
            for cell in complete:
                model = Embedder(*load_encoder(cell_folder(folder, cell.identity) / "model", "mean"))
                rows = [row for row in ledger.evaluations() if row.subject == cell.identity]
                assert rows == few("builtin/test").score(model, cell.identity)


def test_workers_of_train_stay_for_all_of_them(ran):
    for folder, _ in ran:
        with Ledger.open(folder) as ledger:
            executor = ledger.attempts()[0].executor
        num_groups = len(list((folder / "ray" / "train").glob("*")))
        assert num_groups == (1 if executor == "train" else 0)
