"""What is wrong with a cluster, or what it cannot give a study, is said with path and remedy."""

import re
from pathlib import Path

import pytest

from rse_study.cli.arguments import study_file
from rse_study.cluster import check
from rse_study.cluster.check import (
    files_of_study,
    placeholders_of,
    problems_of,
)
from rse_study.cluster.spec import read_cluster
from rse_study.cluster.submit import read_job
from rse_study.errors import InputError, InputErrors, MissingFile
from rse_study.study.checking.validation import read_study
from tests.cases import cases
from tests.cluster.samples import CLUSTERS, edited, shipped
from tests.tiny_models import save_bert, word_tokenizer

SMALL = ("workers.node.cpus=4", "workers.node.max_nodes=4")
BIG = "workers.big={cpus: 9, memory_gib: 9, price_per_hour: 0, labels: {size: big}}"
NO_ROOM, NOT_SHARED = "resources on c: one trial needs", "no other sees it. Name a URL"
SECRET = r"slurm\.sbatch:32: holds .*: a secret would be in every rendered file\. Export it"
IN_POD = "holds HF_TOKEN: .*Make a Kubernetes Secret"
POD = '# - &proxy {name: https_proxy, value: "http://proxy.example.com:3128"}'
ROWS = [
    *((name, "", [], "") for name in CLUSTERS),
    ("local", "", ["workers.cpu.cpus=9007199254740992"], r"workers\.cpu\.cpus = .*: must "),
    ("local", "", ["workers.cpu.cpus=0"], r"workers\.cpu\.cpus = .*: must "),
    ("slurm", "", ["limits.hours=1e300"], r"limits\.hours = .*: must "),
    ("slurm", "", ["folder='/shared/rse%j'"], "folder = .*: must "),
    ("slurm", "", ["folder=jobs"], "jobs of Slurm need an absolute folder"),
    ("slurm", "", ["workers.node.min_nodes=3"], "min_nodes 3 is more than max_nodes 2"),
    ("local", "", ["store='my studies'"], "store = .*: must "),
    ("local", "", ["template=local.txt"], "template = .*: must "),
    ("local", "", ["name=../other"], "name = .*: must "),
    ("kuberay", "", ["workers.gpu.price_per_hour=-1"], r"workers\.gpu\.price_per_hour = -1.*: must be >= 0"),
    ("slurm", "resources.threads=5", SMALL, r"resources on c: one trial needs 5 CPU\(s\) on"),
    ("local", "confirm.resources={executor: train, workers: 8}", [], r"confirm\.resources on c: one"),
    ("aws-gpu", "resources={executor: train, workers: 4, gpus: 1}", ["workers.gpu.max_nodes=2"], NO_ROOM),
    ("onprem", "", ["storage=/home/me/studies"], NOT_SHARED),
    ("onprem", "", ["storage=''"], NOT_SHARED),
    ("onprem", "", ["storage=''", "store=/shared/studies"], ""),
    ("kuberay", "", ["storage=/data/rse-study", "shared=[/data]"], ""),
    ("slurm", "", ["workers.node.gpus=4"], r"workers\.node\.gpus: no #SBATCH line"),
    ("slurm", "", ["workers.node.gpus=4", ("##SBATCH --gpus-per", "#SBATCH --gpus-per")], ""),
    ("local", "", ["workers.cpu.labels={gpu: t4}", ("@{workers.cpu.labels}", "")], r"cpu\.labels: the"),
    ("aws-gpu", "", [BIG], r"workers\.big\.cpus: the template does not use it\. Use it there, as @{workers\.b"),
    ("slurm", "", [("set -m", "if true; then")], "syntax error"),
    ("onprem", "", [("- chmod 600", "- (chmod 600")], r"onprem\.launcher\.yaml: line 2: syntax error"),
    ("aws-gpu", "", [("head_node_type:", "head_node_type: {")], r"aws-gpu\.launcher\.yaml:"),
    ("local", "", [("wait\n", "wait @{nam}\n")], r"local\.sh:"),
    ("slurm", "", [("set -m", "export HF_TOKEN=hf_abc")], SECRET),
    ("slurm", "", [("set -m", "module load cuda; export AWS_SECRET_ACCESS_KEY='abc' && true")], SECRET),
    ("slurm", "", [("set -m", "hf auth login --token hf_abc")], SECRET),
    ("slurm", "", [("set -m", "wandb login --api-key=abc")], SECRET),
    ("slurm", "", [("set -m", "pip install https://me:abc@host/simple/pkg")], SECRET),
    ("slurm", "", [("set -m", "export HF_TOKEN=$(cat ~/.token)")], ""),
    ("slurm", "", [("set -m", 'export HF_TOKEN="$TOKEN"')], ""),
    ("slurm", "", [("set -m", "export RAY_AUTH_TOKEN_PATH=/home/me/token")], ""),
    ("slurm", "", [("set -m", "source token.sh")], ""),
    ("slurm", "", [("set -m", "git clone ssh://git@host/repository")], ""),
    ("slurm", "", [("set -m", "export TOKENIZERS_PARALLELISM=false")], ""),
    ("slurm", "", [("set -m", "export HF_TOKEN=")], ""),
    ("kuberay", "", [(POD, "- {name: HF_TOKEN, value: abc}")], IN_POD),
    ("kuberay", "", [(POD, "- name: HF_TOKEN\n                  value: 'abc'")], IN_POD),
    ("kuberay", "", ["storage='s3://AKIA:abc@bucket/prefix'"], "c: storage holds a key or a password"),
    ("kuberay", "", ["storage='s3://bucket?secret_key=abc'"], "c: storage holds a key or a password"),
    ("kuberay", "", ["storage='s3://bucket/x?region=us-east-1&endpoint_override=http://h:1'"], ""),
]  # fmt: skip


@cases(("name", "asked", "given", "said"), ROWS)
def test_what_is_wrong_is_said_and_a_secret_is_not_repeated(name, asked, given, said, tmp_path):
    try:
        spec = edited(tmp_path, name, *given)
        checked = read_study(study_file("joint"), [asked] if asked else [])
        found = problems_of(spec, checked, where="c")
    except InputErrors as error:
        found = error.problems
    texts = list(map(str, found))
    assert bool(texts) == bool(said), texts
    assert all(re.search(said, text) and "abc" not in text for text in texts), texts


def test_placeholders_that_were_kept_are_named():
    assert placeholders_of(shipped("aws-gpu")) == ["ami-0123456789abcdef0", "my-bucket"]
    assert placeholders_of(shipped("aws-gpu", "storage=s3://ours/x")) == ["ami-0123456789abcdef0"]
    assert placeholders_of(shipped("local")) == []


ELSEWHERE_SAID = "What Slurm, KubeRay or Ray's launcher alone must know stands in the template"


def test_every_wrong_field_is_said_at_once():
    with pytest.raises(InputErrors) as refused:
        read_cluster("local", ["storag=x", "workers={cpu: {cpu: 2, memory_gib: 2}}"])
    assert [str(problem).partition(": ")[2] for problem in refused.value.problems] == [
        "workers.cpu.cpus: is required. Add it",
        "workers.cpu.price_per_hour: is required. Write what an hour of one such node costs; 0 if it is free",
        f"workers.cpu.cpu: no such field of WorkerGroup. Did you mean 'cpus'? {ELSEWHERE_SAID}",
        f"storag: no such field of ClusterSpec. Did you mean 'storage'? {ELSEWHERE_SAID}",
    ]


@cases(
    ("given", "kind", "said"),
    [
        ("slrm", InputError, r"no cluster 'slrm'.*Did you mean 'slurm'\?"),
        ("absent.yaml", MissingFile, "no such file"),
        ("lokal", InputError, r"template = 'lokal.sh': there is no such file.*Did you mean 'local.sh'\?"),
    ],
)
def test_a_missing_file_is_said_and_one_alike_is_hinted_at(given, kind, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("lokal.yaml").write_text("extends: local\ntemplate: lokal.sh\n", encoding="utf-8")
    with pytest.raises(kind, match=said):
        read_cluster(given)


@cases("base", ["slurm", str(shipped("slurm").template).replace("slurm.sbatch", "slurm.yaml")])
def test_a_spec_goes_by_its_name_and_extends_another_by_name_or_path(base, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = f"extends: {base}\nname: mine\ntemplate: mine.sbatch\nworkers: {{node: {{cpus: 8}}}}\n"
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "mine.sbatch").write_text("wait\n", encoding="utf-8")
    spec = read_cluster("mine")
    node = spec.workers["node"]
    assert (spec.template, node.cpus, node.memory_gib) == ("mine.sbatch", 8, 64)


STUDY = "name: mine\nquestion: Does it run there?\nsearch: {rho: {float: [0, 1]}}\n"
BESIDE = (
    "base.encoder.name=models/bert",
    "base.corpus.source=[one.txt, sub/two.txt]",
    "base.selection.dev=dev.tsv",
    "evaluations=[{pairs: sub/own.csv}, {labelled: own.jsonl}]",
    "sampler={class: sampler_beside:Mine}",
)
ELSEWHERE = (
    "base.encoder.name=bert-base-uncased",
    "base.corpus.source=[/shared/one.txt, nli/of_the_data_folder.txt]",
    "base.selection.dev=STS-B",
    "sampler={class: optuna.samplers:RandomSampler}",
)
SAMPLER = "import of_the_sampler, optuna\nclass Mine(optuna.samplers.RandomSampler): pass\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("beside")
    (root / "sub").mkdir()
    for name in ("one.txt", "two.txt", "dev.tsv", "sub/own.csv", "own.jsonl"):
        (root / name).write_text("a\tb\t1\n")
    (root / "sub" / "two.txt").symlink_to("../two.txt")
    (root / "of_the_sampler.py").write_text("SEED = 1\n")
    (root / "sampler_beside.py").write_text(SAMPLER)
    (root / "study.yaml").write_text(STUDY)
    save_bert(root / "models" / "bert", word_tokenizer(["a", "b"]))
    return root


def checked_in(folder, names, cluster="slurm"):
    """A study with these names, and what a cluster cannot give it."""
    checked = read_study(folder / "study.yaml", names)
    return checked, [str(one) for one in problems_of(shipped(cluster), checked, where="c")]


def test_what_lies_beside_the_study_is_in_the_jobs_folder_where_its_file_finds_it(folder, tmp_path):
    checked, problems = checked_in(folder, BESIDE)
    models = {f"models/bert/{one.name}" for one in (folder / "models" / "bert").iterdir()}
    tables = {"dev.tsv", "sub/own.csv", "own.jsonl"}
    others = {"one.txt", "sub/two.txt", "sampler_beside.py", "of_the_sampler.py"} | tables
    assert (problems, set(files_of_study(checked))) == ([], models | others)
    job = read_job(shipped("slurm"), folder / "study.yaml", BESIDE)
    job.copy_files(tmp_path)
    (tmp_path / "study.yaml").write_text(job.study_yaml)
    again = files_of_study(read_study(tmp_path / "study.yaml"))
    assert again == {name: tmp_path / name for name in job.files}


def test_names_of_the_hub_and_of_the_data_folder_and_shared_paths_need_no_file(folder):
    checked, problems = checked_in(folder, ELSEWHERE)
    assert (problems, files_of_study(checked)) == ([], {})


@cases(
    ("name", "said"),
    [
        ("base.encoder.name={folder}/models/bert", "nodes of slurm do not see it"),
        ("base.corpus.source=../outside.txt", "lies outside the study's folder"),
        ("base.selection.dev=working.tsv", "lies outside the study's folder"),
        ("evaluations=[{{pairs: working.tsv}}]", "lies outside the study's folder"),
    ],
)
def test_what_no_node_sees_is_refused_by_name(folder, name, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "working.tsv").write_text("a\tb\t1\n")
    (folder.parent / "outside.txt").write_text("a\n")
    _, (problem,) = checked_in(folder, [*ELSEWHERE, name.format(folder=folder)])
    assert said in problem and "Copy it beside the study" in problem


def test_a_link_in_a_shared_folder_counts_by_where_it_leads(folder, tmp_path):
    shared, name = tmp_path / "shared", "base.encoder.name={}"
    (shared / "seen").mkdir(parents=True)
    (shared / "outside").symlink_to(folder / "models" / "bert")
    (shared / "inside").symlink_to("seen")
    (tmp_path / "mount").symlink_to(shared)
    spec = shipped("slurm").model_copy(update={"shared": (str(tmp_path / "mount"),)})

    def problems(place):
        checked = read_study(folder / "study.yaml", [*ELSEWHERE, name.format(place)])
        return list(check.check_files(spec, checked))

    assert [len(problems(shared / one)) for one in ("seen", "inside", "outside")] == [0, 0, 1]
    assert problems(tmp_path / "mount" / "seen") == []


def test_files_that_are_too_large_to_be_sent_are_refused_with_their_size(folder, monkeypatch):
    monkeypatch.setitem(check.MOST_BYTES, "launcher", (1, "Ray packs them"))
    _, (problem,) = checked_in(folder, BESIDE, "aws-gpu")
    assert "the files beside the study have " in problem and "MiB: Ray packs them. Put large" in problem
