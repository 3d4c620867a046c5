"""`cluster init`, `render`, `validate`: a cluster's files copied, filled in and checked, without the cluster."""

import subprocess
from pathlib import Path

import pytest

from rse_study.cluster.spec import read_cluster
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
