"""`cluster validate`: every problem of a cluster, and of a study on it, at once; and what was checked, and how."""

import pytest

from rse_study.cluster.reading import shipped_clusters
from tests.cluster.kuberay_schema import SCHEMA, needs_schema

MINE = "extends: {path}\n{changes}\n"


def mine(tmp_path, name, changes):
    path = tmp_path / "mine.yaml"
    path.write_text(MINE.format(path=shipped_clusters()[name], changes=changes), encoding="utf-8")
    return str(path)


def test_a_shipped_cluster_is_valid_and_what_was_read_by_whom_is_said(rse):
    ended = rse("cluster", "validate", "slurm", "joint")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == [
        "slurm: valid. slurm, nodes: 2 'node'; nobody bills them",
        "warning: storage, folder: as in the shipped example, which is nobody's",
        "job.sbatch: read by bash, its directives known to sbatch 22.05",
    ]
    onprem = rse("cluster", "validate", "onprem").out
    assert "cluster.yaml: read by Ray's validators and against its schema" in onprem
    assert ": valid. " in rse("cluster", "validate", "local").out.splitlines()[0]


def test_gpus_that_nothing_uses_are_said(rse):
    out = rse("cluster", "validate", "aws-gpu", "joint").out
    assert ": valid. " in out.splitlines()[0]
    assert "warning: joint uses no GPU, and the GPUs of rse-aws-gpu are paid for" in out


def test_without_kuberays_schema_it_says_that_nothing_was_read(rse):
    out = rse("cluster", "validate", "kuberay").out
    assert "rayjob.yaml: NOT read against KubeRay's schema, which is not here; --schema FILE does it" in out


@pytest.mark.slow
@needs_schema
def test_with_kuberays_schema_a_typo_in_the_spec_is_found(rse, tmp_path):
    changes = "workers: {gpu: {tolerations: [{key: gpu, operator: Exists, efect: NoSchedule}]}}"
    path = mine(tmp_path, "kuberay", changes)
    assert rse("cluster", "validate", path).code == 0
    ended = rse("cluster", "validate", path, "--schema", str(SCHEMA))
    at = "spec.rayClusterSpec.workerGroupSpecs.0.template.spec.tolerations.0.efect"
    rule = "no such field: Kubernetes would drop it without a word"
    assert (ended.code, ended.err) == (2, f"{path}: {at}: {rule}. Did you mean 'effect'?\n")


@needs_schema
def test_the_schema_in_the_data_folder_is_read(rse, monkeypatch):
    monkeypatch.setenv("RSE_STUDY_DATA", str(SCHEMA.parents[1]))
    said = f"rayjob.yaml: read strictly against KubeRay's schema, {SCHEMA}"
    assert said in rse("cluster", "validate", "kuberay").out


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
    changes = "storage: /home/me\noptions: [--exclusiv]\nenvironment: {variables: {MY_TOKEN: x}}"
    study = ("joint", "-o", "resources.gpus=1", "-o", "resources.executor=train")
    ended = rse("cluster", "validate", mine(tmp_path, "slurm", changes), *study)
    said = ["environment.variables.MY_TOKEN", "resources.gpus = 1", "storage = '/home/me'", "options"]
    assert ended.code == 2
    assert [word for word in said if word not in ended.err] == []


def test_a_cluster_that_is_not_there_is_said_with_the_study_that_is_wrong(rse):
    ended = rse("cluster", "validate", "slrm", "quickstar")
    assert ended.code == 2
    assert "Did you mean 'slurm'?" in ended.err
    assert "Did you mean 'quickstart'?" in ended.err
