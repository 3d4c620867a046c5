"""`cluster validate`: every problem of a cluster, and of a study on it, at once; and which dry run follows."""

from pathlib import Path

import pytest

from rse_study.cluster.reading import shipped_clusters

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
