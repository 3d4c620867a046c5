"""A cluster is found by name or path, and every wrong field of its file is said at once."""

import pytest

from rse_study.cluster.reading import read_cluster, shipped_clusters
from rse_study.errors import InputError, InputErrors, MissingFile
from tests.cases import cases
from tests.cluster.samples import CLUSTERS, shipped

SMALL = """
template: local.sh
name: small
head: {cpus: 1, memory_gib: 1, price_per_hour: 0}
workers:
  cpu: {cpus: 2, memory_gib: 2, price_per_hour: 0}
"""
ELSEWHERE = "What Slurm, KubeRay or Ray's launcher alone must know stands in the template"


def written(tmp_path, text):
    path = tmp_path / "cluster.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def problems_of(tmp_path, text):
    with pytest.raises(InputErrors) as refused:
        read_cluster(written(tmp_path, text))
    return [str(problem).partition(": ")[2] for problem in refused.value.problems]


@cases("name", CLUSTERS)
def test_a_shipped_cluster_is_found_by_its_name(name):
    kinds = {"slurm": "slurm", "local": "local", "kuberay": "kuberay"}
    assert shipped(name).kind == kinds.get(name, "launcher")


@pytest.mark.parametrize("shipped", ["slurm", str(shipped_clusters()["slurm"])])
def test_a_file_extends_a_shipped_cluster_by_name_or_path(tmp_path, shipped):
    text = f"extends: {shipped}\nname: mine\nworkers: {{node: {{cpus: 8}}}}\n"
    spec = read_cluster(written(tmp_path, text))
    assert (spec.name, spec.workers["node"].cpus, spec.workers["node"].memory_gib) == ("mine", 8, 64)


def test_every_wrong_field_is_said_at_once(tmp_path):
    text = SMALL.replace("name: small", "name: small\nstorag: x").replace(
        "cpus: 2, memory_gib: 2, ", "cpu: 2, "
    )
    assert problems_of(tmp_path, text) == [
        "workers.cpu.cpus: is required. Add it",
        "workers.cpu.memory_gib: is required. Add it",
        f"workers.cpu.cpu: no such field of WorkerGroup. Did you mean 'cpus'? {ELSEWHERE}",
        f"storag: no such field of ClusterSpec. Did you mean 'storage'? {ELSEWHERE}",
    ]


@cases(
    ("name", "override", "refused"),
    [
        ("local", "workers.cpu.cpus=9007199254740992", "workers.cpu.cpus"),
        ("local", "workers.cpu.cpus=0", "workers.cpu.cpus"),
        ("slurm", "limits.hours=1e300", "limits.hours"),
        ("slurm", "folder='/shared/rse%j'", "folder"),
        ("local", "store='my studies'", "store"),
        ("local", "template=local.txt", "template"),
        ("local", "name=../other", "name"),
    ],
)
def test_numbers_and_names_that_no_cluster_has_are_refused(name, override, refused):
    with pytest.raises(InputErrors) as caught:
        shipped(name, override)
    (problem,) = caught.value.problems
    assert problem.what.startswith(f"{refused} = ") and problem.rule.startswith("must ")


def test_a_missing_price_is_refused_with_what_to_write(tmp_path):
    (problem,) = problems_of(tmp_path, SMALL.replace("2, price_per_hour: 0}", "2}"))
    remedy = "Write what an hour of one such node costs; 0 if it is free"
    assert problem == f"workers.cpu.price_per_hour: is required. {remedy}"


def test_a_name_that_is_mistyped_is_hinted_at_and_what_is_not_there_is_said(tmp_path):
    with pytest.raises(
        InputError, match=r"template = 'lokal.sh': there is no such file.*Did you mean 'local.sh'\?"
    ):
        read_cluster(written(tmp_path, SMALL.replace("local.sh", "lokal.sh")))
    with pytest.raises(InputErrors, match=r"template: is required"):
        read_cluster(written(tmp_path, SMALL.replace("template: local.sh", "")))
    with pytest.raises(InputError, match=r"no cluster 'slrm'.*Did you mean 'slurm'\?"):
        read_cluster("slrm")
    with pytest.raises(MissingFile):
        read_cluster(str(tmp_path / "absent.yaml"))


@cases(
    ("name", "override", "problem"),
    [
        ("slurm", "workers.node.min_nodes=3", "min_nodes 3 is more than max_nodes 2"),
        ("slurm", "folder=jobs", "jobs of Slurm need an absolute folder"),
        ("kuberay", "workers.gpu.price_per_hour=-1", "must be >= 0"),
    ],
)
def test_a_value_out_of_its_bounds_is_refused(name, override, problem):
    with pytest.raises(InputErrors) as refused:
        shipped(name, override)
    assert problem in str(refused.value)


def test_a_spec_in_the_working_folder_goes_by_its_name_with_the_template_beside_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text(SMALL.replace("local.sh", "mine.sh"), encoding="utf-8")
    (tmp_path / "mine.sh").write_text("wait\n", encoding="utf-8")
    assert read_cluster("mine").template == "mine.sh"
