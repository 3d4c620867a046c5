"""What becomes of scores and trials where a base was changed in place. Nothing here runs."""

from dataclasses import replace

import pytest

from rse_study.errors import InputError
from rse_study.on_ray.queue import Cell
from rse_study.on_ray.stored import MaterialsCache, StudyFiles
from rse_study.on_ray.study_run import StudyRun
from rse_study.results.files.backup import rebuild
from rse_study.results.files.ledger import Ledger
from rse_study.results.reader import Reader
from rse_study.results.records import CellRecord
from tests.on_ray.listener import Listener
from tests.on_ray.world import few
from tests.results.world import begin, end


@pytest.fixture
def prepared(checked, materials, tmp_path):
    """Prepares the study with a base called so; when each baseline's score was last written."""

    def on(base: str) -> MaterialsCache:
        made = replace(materials, fingerprints=materials.fingerprints | {"base": base})
        return MaterialsCache(lambda trial: made)

    def prepare(base: str) -> dict[str, float]:
        files = StudyFiles(tmp_path)
        with Ledger.open(tmp_path) as ledger:
            run = StudyRun(checked, files, ledger, on(base), few, Listener())
            run.prepare()
            for scores in run.baselines():
                ledger.record_evaluations(scores)
            rows = {(row.subject, row.metric): row.value for row in ledger.evaluations()}
            wrong = [row.model_copy(update={"value": -1.0}) for row in ledger.evaluations()]
            ledger.record_evaluations(wrong)  # whoever measures again puts it right
            return rows

    def cell_of(base: str) -> CellRecord:
        point = {"alpha": 1e-5, "rho": 0.5}
        trial = checked.space.apply(point)
        return Cell(0, 0, on(base).identify(trial, 0), trial, point).record()

    prepare.cell_of = cell_of
    return prepare


def test_they_are_measured_again_when_the_weights_are_others_or_nobody_knows_them(prepared, tmp_path):
    first = prepared("one")
    assert first
    assert set(prepared("one").values()) == {-1.0}
    assert prepared("another") == first
    assert set(prepared("another").values()) == {-1.0}
    for part in tmp_path.glob("ledger.sqlite*"):
        part.unlink()
    rebuild(tmp_path)
    assert set(prepared("another").values()) == {-1.0}


def test_a_search_goes_on_with_what_it_was_begun_with(prepared, tmp_path):
    """One finished trial; then the base's weights are others: neither a trial nor a baseline of them joins it."""
    prepared("one")
    with Ledger.open(tmp_path) as ledger:
        cell = begin(ledger, prepared.cell_of("one"))
        end(ledger, cell, status="failed", reason="step 3: the loss is not finite")
    prepared("one")
    with pytest.raises(InputError) as refused:
        prepared("another")
    assert "trial 0 was another cell when it ran" in str(refused.value)
    assert refused.value.rule.endswith("base was one and is another")
    assert "Give the study another name" in refused.value.remedy
    with Reader(tmp_path) as reader:
        assert set(reader.evaluations()["value"]) == {-1.0}  # as they were


def test_a_trial_that_was_only_lost_holds_a_search_to_nothing(prepared, tmp_path):
    """It has no result, and runs again with what there is now."""
    prepared("one")
    with Ledger.open(tmp_path) as ledger:
        ledger.plan([prepared.cell_of("one")])
        ledger.fail(prepared.cell_of("one").identity, "worker killed by signal 9")
    assert prepared("another")
