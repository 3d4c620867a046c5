"""`cluster render`: what a cluster would be given, on the screen or in a folder."""

import subprocess


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
