"""`cluster init`, `render`, `validate`: a cluster's files copied, filled in and checked, without the cluster."""

import json
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from rse_study.cluster.spec import read_cluster
from rse_study.results.files.connect import copy_of
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.schema import ledger_path
from rse_study.results.study_record import ObjectiveRecord, StudyRecord
from rse_study.storage.storage import Storage, ledger_key
from tests.cases import cases
from tests.cluster.samples import CLUSTERS


@pytest.mark.parametrize("shipped", CLUSTERS)
def test_the_copy_is_a_valid_cluster_of_its_own_name(rse, tmp_path, shipped):
    ended = rse("cluster", "init", shipped, "mysite")
    assert (ended.code, ended.err, ended.next) == (0, "", "rse-study cluster validate mysite STUDY")
    spec = read_cluster("mysite")
    assert spec.name == "mysite"
    assert {one.name for one in tmp_path.iterdir()} == {"mysite.yaml", spec.template}
    assert rse("cluster", "validate", "mysite").out.startswith("mysite: valid. ")
    said = f"mysite.yaml: nodes, prices, places. {spec.template}: everything else"
    assert ended.out.splitlines()[0] == said
    assert shipped != "slurm" or ended.out.splitlines()[1] == "replace in them: /shared/rse-study"


@cases("file", ["mysite.yaml", "mysite.sbatch"])
def test_nothing_is_overwritten(rse, tmp_path, file, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(file).write_text("mine", encoding="utf-8")
    refusal = f"{file}: already exists: nothing is overwritten. Choose another name, or remove it\n"
    ended = rse("cluster", "init", "slurm", "mysite")
    assert (ended.code, ended.err) == (2, refusal)
    assert [one.name for one in tmp_path.iterdir()] == [file]


def test_the_files_are_printed_or_written_with_overrides_and_all_the_job_needs(rse, tmp_path):
    ended = rse("cluster", "render", "slurm", "joint")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("# ---- job.sbatch\n#!/bin/bash\n")
    assert list(tmp_path.iterdir()) == []
    written = rse("cluster", "render", "slurm", "joint", "-o", "num_trials=3", "--out", "job").out
    names = ["job.sbatch", "study.yaml", "rse_study-0.1.0-py3-none-any.whl"]
    assert written.splitlines() == [f"job/{name}" for name in names]
    assert subprocess.run(["bash", "-n", "job/job.sbatch"], cwd=tmp_path, check=False).returncode == 0
    assert "3 trials" in rse("validate", "job/study.yaml").out


def test_a_manifest_with_a_wheel_in_it_is_cut_on_the_screen(rse):
    out = rse("cluster", "render", "kuberay", "joint").out
    assert "characters in all: --out DIR writes them" in out
    assert "kind: RayJob" in out
    assert len(out) < 50_000


def test_a_shipped_cluster_is_valid_and_what_it_is_and_costs_is_said(rse):
    ended = rse("cluster", "validate", "slurm", "joint")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == [
        "slurm: valid. slurm, nodes: 2 'node'; free of charge",
        "warning: /shared/rse-study: still the placeholder of the shipped example",
    ]
    assert ended.next.endswith("--out job; sbatch --test-only job/job.sbatch")
    out = rse("cluster", "validate", "aws-gpu", "joint").out
    assert "warning: joint uses no GPU, but the GPUs of rse-aws-gpu cost money" in out
    assert "cluster.yaml: checked by Ray's validators and against its schema" in out
    dry_run = rse("cluster", "validate", "kuberay", "joint").next
    assert dry_run.endswith("--out job; kubectl apply --dry-run=server -f job/rayjob.yaml")


MINE = """
extends: slurm
storage: /home/me
workers: {node: {labels: {gpu: $x}}, other: {cpus: 1, memory_gib: 1, price_per_hour: 0}}
"""
ASKED = ("-o", "resources.gpus=1", "-o", "resources.executor=train")


@cases(
    ("words", "said"),
    [
        (["init", "slrm", "mysite"], ["Did you mean 'slurm'?"]),
        (["init", "slurm", "../x"], ["name = '../x': must match"]),
        (["render", "mine", "joint"], ["on cluster slurm: one trial needs", "storage = '/home/me'"]),
        (
            ["validate", "wrong", "joint", "-o", "num_trials=0"],
            ["limits.hours = 0", "nme: ", "num_trials = 0"],
        ),
        (["validate", "slrm", "quickstar"], ["Did you mean 'slurm'?", "Did you mean 'quickstart'?"]),
        (["validate", "mine", "joint"], ["node.labels", "1 GPU(s)", "storage =", "workers.other.cpus"]),
    ],
)
def test_all_problems_are_said_at_once_and_nothing_is_written(rse, words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(MINE, encoding="utf-8")
    Path("wrong.yaml").write_text("extends: slurm\nnme: x\nlimits: {hours: 0}", encoding="utf-8")
    ended = rse("cluster", *words, *(ASKED if "mine" in words else ()))
    assert ended.code == 2
    assert [word for word in said if word not in ended.err] == []
    assert len(list(tmp_path.iterdir())) == 2


# `cluster submit`, `status`, `logs`, `down` without a cluster, and `fetch` from a folder: what they say and leave.


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
