"""`cluster fetch`: a study that ran elsewhere, here."""

import json
import sqlite3
from contextlib import closing

import pytest

from rse_study.results.files.backup import copy_of
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.schema import ledger_path
from rse_study.results.study_record import ObjectiveRecord, StudyRecord
from rse_study.storage.storage import Storage, ledger_key

MACHINE = {"cpus": 2, "memory_gib": 8, "price_per_hour": 0}


@pytest.fixture
def spec(tmp_path):
    """A cluster whose storage is a folder."""
    places = {"folder": str(tmp_path), "storage": str(tmp_path / "storage")}
    nodes = {"head": MACHINE, "workers": {"node": MACHINE | {"max_nodes": 2}}}
    content = {"template": "slurm.sbatch", "name": "mine", **places, **nodes, "limits": {"hours": 1}}
    (tmp_path / "mine.yaml").write_text(json.dumps(content), encoding="utf-8")
    return "mine.yaml"


def test_a_study_that_ran_elsewhere_comes_with_its_report(rse, spec, tmp_path):
    elsewhere = tmp_path / "elsewhere" / "far"
    objective = ObjectiveRecord(metric="dev", direction="maximize", label="dev")
    with Ledger.open(elsewhere) as ledger:
        ledger.freeze(StudyRecord(name="far", question="Does it come?", objective=objective))
    storage = Storage(str(tmp_path / "storage"), 0.0)
    storage.require()
    with closing(sqlite3.connect(ledger_path(elsewhere))) as ledger:
        storage.write(ledger_key("far"), copy_of(ledger))
    ended = rse("cluster", "fetch", spec, "far")
    assert (ended.err, ended.code) == ("", 0)
    assert ended.out.startswith(f"far: copied its ledger ({tmp_path / 'storage'})")
    assert "Does it come?" in (tmp_path / "studies" / "far" / "report.html").read_text(encoding="utf-8")
    again = rse("cluster", "fetch", spec, "far")
    assert again.out.startswith("far: the ledger here is up to date")


def test_what_is_not_there_is_said(rse, spec, tmp_path):
    Storage(str(tmp_path / "storage"), 0.0).require()
    ended = rse("cluster", "fetch", spec, "nothing")
    assert ended.code == 2
    assert "no study 'nothing'. Submit it" in ended.err
