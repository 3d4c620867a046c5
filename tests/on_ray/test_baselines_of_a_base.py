"""Baselines are measured once of the same weights, and again where those were changed in place. Nothing here runs."""

from dataclasses import replace

import pytest

from rse_study.on_ray.driver import Run
from rse_study.on_ray.place import Place, Stock
from rse_study.results.ledger import Ledger
from tests.on_ray.test_added_evaluation import Listener
from tests.on_ray.world import few


@pytest.fixture
def prepared(checked, materials, tmp_path):
    """Prepares the study with a base called so; when each baseline's score was last written."""

    def prepare(base: str) -> dict[str, float]:
        made = replace(materials, fingerprints=materials.fingerprints | {"base": base})
        with Ledger.open(tmp_path) as ledger:
            run = Run(checked, Place(tmp_path), ledger, Stock(lambda trial: made), few, Listener())
            run.prepare()
            rows = {(row.subject, row.metric): row.value for row in ledger.evaluations()}
            wrong = [row.model_copy(update={"value": -1.0}) for row in ledger.evaluations()]
            ledger.record_evaluations(wrong)  # whoever measures again puts it right
            return rows

    return prepare


def test_they_are_measured_again_when_the_weights_are_others(prepared):
    first = prepared("one")
    assert first
    assert set(prepared("one").values()) == {-1.0}
    assert prepared("another") == first
    assert set(prepared("another").values()) == {-1.0}
