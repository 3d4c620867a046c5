"""`cluster init`, `render`, `validate`: a cluster's files copied, filled in and checked, without the cluster."""

import subprocess
from pathlib import Path

import pytest

from rse_study.cluster.reading import read_cluster, shipped_clusters


@pytest.mark.parametrize("shipped", shipped_clusters())
def test_the_copy_is_a_valid_cluster_of_its_own_name(rse, tmp_path, shipped):
    ended = rse("cluster", "init", shipped, "mysite")
    assert (ended.code, ended.err, ended.next) == (0, "", "rse-study cluster validate mysite STUDY")
    spec = read_cluster("mysite")
    assert spec.name == "mysite"
    assert {one.name for one in tmp_path.iterdir()} == {"mysite.yaml", spec.template}
    assert rse("cluster", "validate", "mysite").out.startswith("mysite: valid. ")


def test_the_placeholders_to_replace_are_named(rse):
    out = rse("cluster", "init", "slurm", "mysite").out
    assert out.splitlines()[:2] == [
        "mysite.yaml: nodes, prices, places. mysite.sbatch: everything else",
        "replace in them: /shared/rse-study",
    ]


@pytest.mark.parametrize("file", ["mysite.yaml", "mysite.sbatch"])
def test_nothing_is_overwritten(rse, tmp_path, file):
    (tmp_path / file).write_text("mine", encoding="utf-8")
    ended = rse("cluster", "init", "slurm", "mysite")
    assert (ended.code, ended.err) == (
        2,
        f"{file}: already exists: nothing is overwritten. Choose another name, or remove it\n",
    )
    assert [one.name for one in tmp_path.iterdir()] == [file]


def test_a_name_that_is_not_shipped_or_no_name_is_refused(rse):
    assert "Did you mean 'slurm'?" in rse("cluster", "init", "slrm", "mysite").err
    assert "name = '../x': must match" in rse("cluster", "init", "slurm", "../x").err


def test_the_files_are_printed_and_nothing_is_written_without_a_folder(rse, tmp_path):
    ended = rse("cluster", "render", "slurm", "joint")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("# ---- job.sbatch\n#!/bin/bash\n")
    assert "\n#SBATCH --job-name=rse-joint-" in ended.out
    assert list(tmp_path.iterdir()) == []


def test_the_files_are_written_with_all_the_job_needs(rse, tmp_path):
    ended = rse("cluster", "render", "slurm", "joint", "--out", "job")
    names = ["job.sbatch", "study.yaml", "rse_study-0.1.0-py3-none-any.whl"]
    assert ended.out.splitlines() == [f"job/{name}" for name in names]
    assert subprocess.run(["bash", "-n", "job/job.sbatch"], cwd=tmp_path, check=False).returncode == 0
    assert rse("validate", "job/study.yaml").code == 0


def test_overrides_are_in_the_file(rse):
    rse("cluster", "render", "local", "joint", "-o", "num_trials=3", "--out", "job")
    assert "3 trials" in rse("validate", "job/study.yaml").out


def test_a_manifest_with_a_wheel_in_it_is_cut_on_the_screen(rse):
    out = rse("cluster", "render", "kuberay", "joint").out
    assert "characters in all: --out DIR writes them" in out
    assert "kind: RayJob" in out
    assert len(out) < 50_000


def test_what_cannot_run_there_is_not_rendered(rse):
    ended = rse("cluster", "render", "slurm", "joint", "-o", "resources.threads=40")
    assert ended.code == 2
    rule = "one trial needs 40 CPU(s) on one node: the largest node (node) has 16 CPU(s)"
    assert f"resources on cluster slurm: {rule}" in ended.err


MINE = "extends: {path}\n{changes}\n"


def mine(tmp_path, name, changes):
    path = tmp_path / "mine.yaml"
    path.write_text(MINE.format(path=shipped_clusters()[name], changes=changes), encoding="utf-8")
    return str(path)


def test_a_shipped_cluster_is_valid_and_what_it_is_is_said(rse):
    ended = rse("cluster", "validate", "slurm", "joint")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == [
        "slurm: valid. slurm, nodes: 2 'node'; free of charge",
        "warning: /shared/rse-study: still the placeholder of the shipped example",
    ]
    onprem = rse("cluster", "validate", "onprem").out
    assert "cluster.yaml: checked by Ray's validators and against its schema" in onprem
    assert ": valid. " in rse("cluster", "validate", "local").out.splitlines()[0]


def test_gpus_that_nothing_uses_are_said(rse):
    out = rse("cluster", "validate", "aws-gpu", "joint").out
    assert ": valid. " in out.splitlines()[0]
    assert "warning: joint uses no GPU, but the GPUs of rse-aws-gpu cost money" in out


@pytest.mark.parametrize(
    ("name", "dry_run"),
    [
        ("slurm", "sbatch --test-only job/job.sbatch"),
        ("kuberay", "kubectl apply --dry-run=server -f job/rayjob.yaml"),
    ],
)
def test_the_tools_own_dry_run_is_the_next_step(rse, name, dry_run):
    render = f"rse-study cluster render {name} joint --out job"
    assert rse("cluster", "validate", name, "joint").next == f"{render}; {dry_run}"
    rse(*render.split()[1:])
    assert Path(dry_run.split()[-1]).is_file()


def test_problems_of_both_files_come_at_once(rse, tmp_path):
    path = mine(tmp_path, "slurm", "nme: x\nlimits: {hours: 0}")
    ended = rse("cluster", "validate", path, "joint", "-o", "num_trials=0")
    assert ended.code == 2
    assert [line.partition(": ")[2].split(":")[0] for line in ended.err.splitlines()] == [
        "limits.hours = 0",
        "nme",
        "num_trials = 0",
    ]


def test_problems_of_all_checks_come_at_once(rse, tmp_path):
    other = "other: {cpus: 1, memory_gib: 1, price_per_hour: 0}"
    changes = f"storage: /home/me\nworkers: {{node: {{labels: {{gpu: '$x'}}}}, {other}}}"
    study = ("joint", "-o", "resources.gpus=1", "-o", "resources.executor=train")
    ended = rse("cluster", "validate", mine(tmp_path, "slurm", changes), *study)
    said = [
        "workers.node.labels",
        "1 GPU(s) on one node",
        "storage = '/home/me'",
        "workers.other.cpus: the template",
    ]
    assert ended.code == 2
    assert [word for word in said if word not in ended.err] == []


def test_a_cluster_that_is_not_there_is_said_with_the_study_that_is_wrong(rse):
    ended = rse("cluster", "validate", "slrm", "quickstar")
    assert ended.code == 2
    assert "Did you mean 'slurm'?" in ended.err
    assert "Did you mean 'quickstart'?" in ended.err
