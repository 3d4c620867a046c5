"""What a cluster cannot give a study is refused, with path and remedy."""

from rse_study.cli.arguments.paths import study_file
from rse_study.cluster.check import check_cluster, check_study_on, placeholders_of
from rse_study.cluster.node_capacity import num_fitting
from rse_study.cluster.price import nodes_of
from rse_study.storage import secret_in
from rse_study.study.checking.validation import read_study
from rse_study.study.definition.resources import Resources
from tests.cases import cases
from tests.cluster.samples import CLUSTERS, edited, shipped

WHERE = "c"


def problems_on(name, study_overrides=(), *overrides):
    checked = read_study(study_file("joint"), study_overrides)
    found = check_study_on(shipped(name, *overrides), checked, where=WHERE)
    return [
        str(problem).removeprefix(f"{WHERE}: ").removeprefix(f"{study_file('joint')}: ") for problem in found
    ]


@cases("name", CLUSTERS)
def test_a_shipped_cluster_has_no_problem(name):
    assert [*problems_on(name), *check_cluster(shipped(name), where=WHERE)] == []


SMALL = ("workers.node.cpus=4", "workers.node.max_nodes=4")
TWO_GPUS = ("workers.gpu.max_nodes=2",)
BIG = ("workers.big={cpus: 9, memory_gib: 9, price_per_hour: 0, labels: {size: big}}",)


@cases(
    ("name", "asked", "spec", "problem"),
    [
        ("slurm", "resources.threads=4", SMALL, ""),
        ("slurm", "resources.threads=5", SMALL, "resources on c: one trial needs 5 CPU(s) on"),
        ("local", "confirm.resources={executor: train, workers: 8}", (), "confirm.resources on c: one"),
        ("aws-gpu", "resources={executor: train, workers: 2, gpus: 1}", TWO_GPUS, ""),
        ("aws-gpu", "resources={executor: train, workers: 4, gpus: 1}", TWO_GPUS, "resources on c: one"),
        ("local", "resources.labels={gpu: t4}", ("workers.cpu.labels={gpu: t4}",), ""),
        ("local", "resources={threads: 9, labels: {size: big}}", BIG, ""),
        ("local", "resources={threads: 9, labels: {size: small}}", BIG, "resources on c: one trial"),
    ],
)
def test_what_no_node_could_run_is_refused(name, asked, spec, problem):
    found = problems_on(name, [asked], *spec)
    assert len(found) == bool(problem)
    assert all(one.startswith(problem) for one in found)


def test_a_part_of_a_gpu_is_a_part_of_one():
    spec = shipped("aws-gpu", "workers.gpu.gpus=4", "workers.gpu.cpus=16", "workers.gpu.max_nodes=1")
    assert num_fitting(nodes_of(spec), Resources(gpus=0.25)) == 16
    assert num_fitting(nodes_of(spec), Resources(gpus=0.6)) == 4


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
        ("kuberay", ["storage=/data/rse-study", "shared=[/data]"], False),
        ("aws-gpu", ["storage=''"], True),
        ("local", ["storage=''"], False),
    ],
)
def test_storage_that_is_not_shared_is_refused(name, overrides, is_refused):
    problems = problems_on(name, (), *overrides)
    assert bool(problems) is is_refused
    assert all("no other sees it. Name a URL" in problem for problem in problems)


@cases(
    ("name", "changes", "overrides", "said"),
    [
        ("slurm", [], ("workers.node.gpus=4",), "workers.node.gpus: no #SBATCH line"),
        ("slurm", [("##SBATCH --gpus-per", "#SBATCH --gpus-per")], ("workers.node.gpus=4",), ""),
        ("local", [], ("workers.cpu.labels={gpu: t4}",), ""),
        ("local", [("@{workers.cpu.labels}", "")], ("workers.cpu.labels={gpu: t4}",), "cpu.labels: the"),
        (
            "aws-gpu",
            [],
            BIG,
            "workers.big.cpus: the template does not use it. Use it there, as @{workers.big",
        ),
        ("slurm", [("set -m", "if true; then")], (), "syntax error"),
        ("onprem", [("- chmod 600", "- (chmod 600")], (), "onprem.launcher.yaml: line 2: syntax error"),
        ("aws-gpu", [("head_node_type:", "head_node_type: {")], (), "aws-gpu.launcher.yaml:"),
        ("local", [("wait\n", "wait @{nam}\n")], (), "local.sh:"),
    ],
)
def test_what_a_template_leaves_out_or_nobody_can_read_is_refused(name, changes, overrides, said, tmp_path):
    found = [*check_cluster(edited(tmp_path, name, *changes, overrides=overrides), where="c")]
    assert len(found) >= bool(said)
    assert all(said in str(problem) for problem in found) and (said or not found)


SECRETS = [
    "export HF_TOKEN=hf_abc",
    "module load cuda; export AWS_SECRET_ACCESS_KEY='abc' && true",
    "hf auth login --token hf_abc",
    "wandb login --api-key=abc",
    "pip install https://me:abc@host/simple/pkg",
]
REFERENCES = [
    "export HF_TOKEN=$(cat ~/.token)",
    'export HF_TOKEN="$TOKEN"',
    "export RAY_AUTH_TOKEN_PATH=/home/me/token",
    "source token.sh",
    "git clone ssh://git@host/repository",
    "export TOKENIZERS_PARALLELISM=false",
    "export HF_TOKEN=",
]


@cases("line", SECRETS)
def test_a_secret_in_a_template_is_refused_and_not_repeated(line, tmp_path):
    (problem,) = check_cluster(edited(tmp_path, "slurm", ("set -m", line)), where="c")
    assert str(problem).startswith(f"{tmp_path}/slurm.sbatch:32: holds ")
    assert "a secret would be in every rendered file. Export it" in str(problem)
    assert "abc" not in str(problem)


@cases("value", ["- {name: HF_TOKEN, value: abc}", "- name: HF_TOKEN\n                  value: 'abc'"])
def test_a_secret_in_the_environment_of_a_pod_is_refused(value, tmp_path):
    line = '# - &proxy {name: https_proxy, value: "http://proxy.example.com:3128"}'
    (problem,) = check_cluster(edited(tmp_path, "kuberay", (line, value)), where="c")
    assert "holds HF_TOKEN" in str(problem) and "Make a Kubernetes Secret" in str(problem)


@cases("line", REFERENCES)
def test_a_line_that_reads_a_secret_elsewhere_is_none(line, tmp_path):
    assert list(check_cluster(edited(tmp_path, "slurm", ("set -m", line)), where="c")) == []


def test_a_key_in_the_storages_url_is_refused_and_not_repeated():
    (said,) = map(
        str, check_cluster(shipped("kuberay", "storage='s3://AKIA:5ecret@bucket/prefix'"), where="c")
    )
    assert said.startswith("c: storage holds a key or a password")
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


def test_placeholders_that_were_kept_are_named():
    assert placeholders_of(shipped("aws-gpu")) == ["ami-0123456789abcdef0", "my-bucket"]
    assert placeholders_of(shipped("aws-gpu", "storage=s3://ours/x")) == ["ami-0123456789abcdef0"]
    assert placeholders_of(shipped("local")) == []
