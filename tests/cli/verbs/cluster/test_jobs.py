"""`cluster submit`, `status`, `logs`, `down` without a cluster, and `fetch` from a folder: what they say and leave."""

import json
import sqlite3
from contextlib import closing

import pytest

from rse_study.results.files.connect import copy_of
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.schema import ledger_path
from rse_study.results.study_record import ObjectiveRecord, StudyRecord
from rse_study.storage.storage import Storage, ledger_key


@pytest.fixture
def spec(tmp_path):
    """A cluster of this machine that nobody has started."""
    (tmp_path / "mine.yaml").write_text("extends: local\nname: mine\n", encoding="utf-8")
    return "mine.yaml"


def test_a_dry_run_prints_files_and_commands_and_writes_nothing(rse, spec, tmp_path):
    ended = rse("cluster", "submit", spec, "joint", "--dry-run", "--max-hours", "2")
    assert (ended.err, ended.code) == ("", 0)
    folder = f"{tmp_path}/studies/.clusters/mine/rse-joint-"
    lines = ended.out.splitlines()
    assert lines[0].startswith(f"# ---- {folder}") and lines[0].endswith("/cluster.sh")
    assert lines[-1] == "# nothing was written or run"
    start, submit = lines[lines.index("# ---- commands") + 1 : -1]
    assert start.startswith(f"bash {folder}")
    assert "ray job submit" in submit and f"--store {tmp_path}/studies --max-hours 2" in submit
    assert [path.name for path in tmp_path.iterdir()] == [spec]


def test_a_slurm_that_is_not_there_is_said(rse, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", "/nowhere")
    ended = rse("cluster", "submit", "slurm", "joint")
    rule = "this kind of cluster is driven by it. Give the command on a login node"
    assert (ended.code, ended.out) == (2, "") and ended.err.startswith(f"no program 'squeue': {rule}")
    assert list(tmp_path.iterdir()) == []


def test_a_study_without_a_job_is_to_be_submitted_and_there_is_nothing_to_end(rse, spec):
    remedy = f"Submit it: rse-study cluster submit {spec} joint"
    for verb in ("status", "logs"):
        ended = rse("cluster", verb, spec, "joint")
        assert (ended.code, ended.err) == (2, f"STUDY: no job of study 'joint' on mine. {remedy}\n")
    ended = rse("cluster", "down", spec)
    assert (ended.code, ended.out) == (0, "nothing to end on mine\n")


def test_a_job_that_the_cluster_forgot_is_on_record(rse, spec, tmp_path):
    names = {"submission_id": "rse-old-0123456789ab", "handle": "7"}
    report = names | {"state": "failed", "native": "NODE_FAIL", "started": 0.0, "ended": 7200.0, "reason": ""}
    record = {"study": "old", "storage": "", "store": "studies", "price_per_hour": 0.0, "reports": [report]}
    file = tmp_path / "studies" / ".clusters" / "mine" / "old.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(record), "utf-8")
    ended = rse("cluster", "status", spec, "old")
    assert (ended.err, ended.code) == ("", 0)
    lines = ended.out.splitlines()
    assert lines[1].startswith("job: 7 (rse-old-0123456789ab) failed (NODE_FAIL), since 1970-01-01")
    assert lines[1].endswith("for 2 h 00 min")
    assert lines[2] == "cells: unknown (the study has no storage from which to read its ledger)"


def test_a_study_that_ran_elsewhere_comes_with_its_report_and_one_that_is_not_there_is_said(rse, tmp_path):
    places = f"folder: {tmp_path}\nstorage: {tmp_path}/storage\n"
    (tmp_path / "mine.yaml").write_text(f"extends: slurm\n{places}", encoding="utf-8")
    elsewhere = tmp_path / "elsewhere" / "far"
    objective = ObjectiveRecord(metric="dev", direction="maximize", label="dev")
    with Ledger.open(elsewhere) as ledger:
        ledger.freeze(StudyRecord(name="far", question="Does it come?", objective=objective))
    storage = Storage(str(tmp_path / "storage"), 0.0)
    storage.require()
    with closing(sqlite3.connect(ledger_path(elsewhere))) as ledger:
        storage.write(ledger_key("far"), copy_of(ledger))
    ended = rse("cluster", "fetch", "mine", "far")
    assert (ended.err, ended.code) == ("", 0)
    assert ended.out.startswith(f"far: copied its ledger ({tmp_path / 'storage'})")
    assert "Does it come?" in (tmp_path / "studies" / "far" / "report.html").read_text(encoding="utf-8")
    assert rse("cluster", "fetch", "mine", "far").out.startswith("far: the ledger here is up to date")
    ended = rse("cluster", "fetch", "mine", "nothing")
    assert ended.code == 2 and "no study 'nothing'. Submit it" in ended.err
