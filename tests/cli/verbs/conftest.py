"""A study that has run, as a run would leave it."""

import pytest

from rse_study.results.ledger import Ledger
from rse_study.results.records import CellRecord, ObjectiveRecord, StudyRecord
from rse_study.results.result_file import Point, Result, write_result
from rse_study.results.schema import cell_folder


@pytest.fixture
def ran(tmp_path):
    """A study of two trials that has run: one complete, one failed."""
    study = StudyRecord(
        name="little", question="?", objective=ObjectiveRecord(metric="dev"), num_trials=2, num_cells=2
    )
    cells = [CellRecord(identity=str(i) * 64, trial=i, seed=0, config={}) for i in range(2)]
    with Ledger.open(tmp_path / "studies" / "little") as ledger:
        ledger.freeze(study)
        ledger.plan(cells)
        point = Point(t=1, metrics={"dev": 50.0})
        ledger.record_result(Result(identity=cells[0].identity, seed=0, config={}, history=(point,)))
        reason = "step 3: the loss is not finite"
        failed = Result(identity=cells[1].identity, seed=0, config={}, status="failed", reason=reason)
        write_result(cell_folder(ledger.study_dir, failed.identity), failed)
        ledger.record_result(failed)
    return tmp_path / "studies" / "little"
