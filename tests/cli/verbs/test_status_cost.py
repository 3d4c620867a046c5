"""The work of `status` in a small and in a large study."""

from rse_study.cli import status_content as content
from rse_study.results.files.ledger import Ledger
from rse_study.results.settings import StudySettings
from tests.results.world import HERE, STUDY, cell_of, result_of


def fill(study_dir, num_cells):
    with Ledger.open(study_dir) as ledger:
        ledger.freeze(STUDY)
        for trial in range(num_cells):
            ledger.plan([cell_of(trial)])
            ledger.start(cell_of(trial).identity, **HERE)
            ledger.record_result(result_of(cell_of(trial), [1.0]))


def test_settings_are_read_as_often_for_forty_cells_as_for_ten(tmp_path, monkeypatch):
    read, whole, counts = [], StudySettings.model_validate, []
    monkeypatch.setattr(StudySettings, "model_validate", lambda given: read.append(1) or whole(given))
    for num_cells in (10, 40):
        fill(tmp_path / str(num_cells), num_cells)
        read.clear()
        content.state_of(tmp_path / str(num_cells))
        counts.append(len(read))
    assert counts[0] == counts[1] > 0
