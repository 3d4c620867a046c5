"""A cell on a Train worker: bit for bit the cell that the loop alone makes of it. More of Train: `make check-slow`."""

import pytest

from rse_study.on_ray.driver import run_study
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import read_result
from rse_study.results.files.schema import cell_folder
from rse_study.training.loop import train
from tests.on_ray.listener import Listener
from tests.on_ray.world import checked_of, few, grid_of

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray")]


def test_a_cell_has_the_history_that_the_loop_alone_gives_it_and_a_lost_loss_fails(
    study_content, materials, cluster, tmp_path
):
    rows, resources = {"strong": {"alpha": 1e-3}, "lost": {"lr": 1e30}}, {"executor": "train"}
    content = grid_of(study_content, grid={"rows": rows}, resources=resources)
    checked, diary = checked_of(content), Listener()
    folder = run_study(checked, tmp_path / "study", lambda trial: materials, few, diary, address=cluster)
    with Ledger.open(folder) as ledger:
        cell, lost = ledger.cells()
        attempts = {one.cell: (one.outcome, one.executor) for one in ledger.attempts()}
    assert attempts == {cell.identity: ("complete", "train"), lost.identity: ("failed", "train")}
    assert (cell.status, lost.status) == ("complete", "failed")
    assert "the loss is not finite" in lost.reason
    row, _ = checked.rows
    list(train(row.trial, 0, materials, tmp_path / "alone"))
    found, wanted = read_result(cell_folder(folder, cell.identity)), read_result(tmp_path / "alone")
    assert (found.history, found.final) == (wanted.history, wanted.final)
    assert ("progressed", 0, 2, 3) in diary.events
