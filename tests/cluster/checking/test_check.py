"""What a cluster cannot give a study is refused, with path and remedy."""

import json

from rse_study.cli.arguments.paths import study_file
from rse_study.cluster.checking.check import check_cluster, check_study_on
from rse_study.cluster.checking.examples import kept_examples
from rse_study.cluster.worker_capacity import num_fitting
from rse_study.storage.location import secret_in
from rse_study.study.checking.validation import read_study
from rse_study.study.definition.resources import Resources
from tests.cases import cases
from tests.cluster.samples import CLUSTERS, shipped


def problems_on(name, study_overrides=(), *overrides):
    checked = read_study(study_file("joint"), study_overrides)
    spec = shipped(name, *overrides)
    where = "cluster.yaml"
    found = [*check_cluster(spec, where=where), *check_study_on(spec, checked, where=where)]
    return [
        str(problem).removeprefix(f"{where}: ").removeprefix(f"{study_file('joint')}: ") for problem in found
    ]


@cases("name", CLUSTERS)
def test_a_shipped_cluster_has_no_problem(name):
    assert problems_on(name) == []


SMALL = ("workers.node.cpus=4", "workers.node.max_nodes=4")
TWO_GPUS = ("workers.gpu.max_nodes=2",)
BIG = ("workers.big={cpus: 9, memory_gib: 9, price_per_hour: 0, labels: {size: big}}",)


@cases(
    ("name", "asked", "spec", "problem"),
    [
        ("slurm", "resources.threads=4", SMALL, ""),
        (
            "slurm",
            "resources.threads=5",
            SMALL,
            "resources.threads = 5: one worker of a cell needs 5 CPUs on",
        ),
        ("local", "confirm.resources={executor: train, workers: 8}", (), "confirm.resources.workers = 8: "),
        ("aws-gpu", "resources={executor: train, workers: 2, gpus: 1}", TWO_GPUS, ""),
        ("aws-gpu", "resources={executor: train, workers: 4, gpus: 1}", TWO_GPUS, "resources.workers = 4: "),
        ("local", "resources.labels={gpu: t4}", ("workers.cpu.labels={gpu: t4}",), ""),
        ("local", "resources={threads: 9, labels: {size: big}}", BIG, ""),
        ("local", "resources={threads: 9, labels: {size: small}}", BIG, "resources.labels = "),
    ],
)
def test_what_no_node_could_run_is_refused(name, asked, spec, problem):
    found = problems_on(name, [asked], *spec)
    assert len(found) == bool(problem)
    assert all(one.startswith(problem) for one in found)


def test_a_part_of_a_gpu_is_a_part_of_one():
    spec = shipped("aws-gpu", "workers.gpu.gpus=4", "workers.gpu.cpus=16", "workers.gpu.max_nodes=1")
    assert num_fitting(spec, Resources(gpus=0.25)) == 16
    assert num_fitting(spec, Resources(gpus=0.6)) == 4


@cases(
    ("name", "overrides", "is_refused"),
    [
        ("onprem", ["storage=/home/me/studies"], True),
        ("onprem", ["storage=/shared/studies"], False),
        ("onprem", ["storage=s3://bucket/prefix"], False),
        ("onprem", ["storage=''"], True),
        ("onprem", ["storage=''", "store=/shared/studies"], False),
        ("slurm", ["storage=/scratch/me"], True),
        ("slurm", ["storage=''", "store=/shared/rse-study/studies"], False),
        ("kuberay", ["storage=/data/rse-study"], True),
        ("kuberay", ["storage=/data/rse-study", "volumes=[{claim: shared, path: /data}]"], False),
        ("aws-gpu", ["storage=''"], True),
        ("local", ["storage=''"], False),
    ],
)
def test_storage_that_is_not_shared_is_refused(name, overrides, is_refused):
    problems = problems_on(name, (), *overrides)
    assert bool(problems) is is_refused
    assert all("no other sees it. Name a URL" in problem for problem in problems)


@cases(
    ("name", "override", "problem"),
    [
        ("kuberay", "name=My_Cluster", "name = 'My_Cluster': Kubernetes takes a-z, 0-9 and -"),
        ("kuberay", "namespace=a.b", "namespace = 'a.b'"),
        ("kuberay", "token_secret=Token", "token_secret = 'Token'"),
        ("kuberay", "secrets=[good, not_good]", "secrets.1 = 'not_good'"),
        ("kuberay", "workers.gpu.labels={pool: 'a b'}", "workers.gpu.labels.pool = 'a b'"),
        ("gcp-gpu", "name=1st", "name = '1st'"),
        ("slurm", "environment.variables={a-b: '1'}", "environment.variables.a-b = 'a-b': a shell takes"),
        ("aws-gpu", "instance_profile=''", "instance_profile is not given: without it workers may not write"),
        ("gcp-gpu", "service_account=''", "service_account is not given"),
    ],
)
def test_what_others_would_refuse_is_refused_here(name, override, problem):
    said, *_ = problems_on(name, (), override)
    assert said.startswith(problem)


@cases("variable", ["AWS_SECRET_ACCESS_KEY", "RAY_AUTH_TOKEN", "DB_PASSWORD", "hf_token"])
def test_a_secret_in_the_environment_is_refused(variable):
    (said,) = problems_on("slurm", (), f"environment.variables={{{variable}: '1234'}}")
    assert said.startswith(
        f"environment.variables.{variable}: a secret would be in every rendered file. Export it"
    )
    assert "1234" not in said


@cases(
    "line",
    [
        "export HF_TOKEN=hf_abc",
        "module load cuda; export AWS_SECRET_ACCESS_KEY='abc' && true",
        "hf auth login --token hf_abc",
        "wandb login --api-key=abc",
        "pip install https://me:abc@host/simple/pkg",
    ],
)
def test_a_secret_in_a_shell_line_is_refused_and_not_repeated(line):
    (problem,) = problems_on("slurm", (), f"environment.activate={json.dumps([line])}")
    assert problem.startswith("environment.activate.0 holds ")
    assert "a secret would be in every rendered file. Export it" in problem
    assert "abc" not in problem


@cases(
    "line",
    [
        "export HF_TOKEN=$(cat ~/.token)",
        'export HF_TOKEN="$TOKEN"',
        "export RAY_AUTH_TOKEN_PATH=/home/me/token",
        "source token.sh",
        "git clone ssh://git@host/repository",
        "export TOKENIZERS_PARALLELISM=false",
        "export HF_TOKEN=",
    ],
)
def test_a_line_that_reads_a_secret_elsewhere_is_none(line):
    assert problems_on("slurm", (), f"environment.activate={json.dumps([line])}") == []


def test_a_key_in_the_storages_url_is_refused_and_not_repeated():
    (said,) = problems_on("kuberay", (), "storage='s3://AKIA:5ecret@bucket/prefix'")
    assert said.startswith("storage holds a key or a password")
    assert "5ecret" not in said


@cases(
    ("url", "is_one"),
    [
        ("s3://bucket/prefix?region=us-east-1&endpoint_override=http://h:1", False),
        ("s3://bucket?secret_key=x", True),
        ("s3://key:secret@bucket", True),
        ("/shared/folder", False),
    ],
)
def test_secrets_in_urls_are_seen(url, is_one):
    assert bool(secret_in(url)) is is_one


def test_examples_that_were_kept_are_named():
    assert kept_examples(shipped("aws-gpu")) == ("image", "storage", "instance_profile")
    assert kept_examples(shipped("aws-gpu", "image=ami-00", "storage=s3://ours/x")) == ("instance_profile",)
    assert kept_examples(shipped("local")) == ()
