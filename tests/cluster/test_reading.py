"""A cluster is found by name or path, and every wrong field of its file is said at once."""

import pytest

from rse_study.cluster.reading import read_cluster, shipped_clusters
from rse_study.errors import InputError, InputErrors, MissingFile
from tests.cases import cases
from tests.cluster.samples import CLUSTERS, shipped

SMALL = """
kind: local
name: small
head: {cpus: 1, memory_gib: 1, price_per_hour: 0}
workers:
  cpu: {cpus: 2, memory_gib: 2, price_per_hour: 0}
"""


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
    assert shipped(name).kind == name.removesuffix("-gpu")


@pytest.mark.parametrize("shipped", ["slurm", str(shipped_clusters()["slurm"])])
def test_a_file_extends_a_shipped_cluster_by_name_or_path(tmp_path, shipped):
    text = f"extends: {shipped}\nname: mine\nworkers: {{node: {{cpus: 8}}}}\n"
    spec = read_cluster(written(tmp_path, text))
    assert (spec.name, spec.workers["node"].cpus, spec.workers["node"].memory_gib) == ("mine", 8, 64)


def test_every_wrong_field_is_said_at_once(tmp_path):
    text = SMALL.replace("kind: local", "kind: local\nports: 1").replace(
        "cpus: 2, memory_gib: 2, ", "cpu: 2, "
    )
    assert problems_of(tmp_path, text) == [
        "workers.cpu.cpus: is required. Add it",
        "workers.cpu.memory_gib: is required. Add it",
        "workers.cpu.cpu: no such field of WorkerGroup. Did you mean 'cpus'?",
        "ports: no such field of LocalCluster. Did you mean 'port'?",
    ]


@cases(
    ("name", "override", "refused"),
    [
        ("local", "workers.cpu.cpus=9007199254740992", "workers.cpu.cpus"),
        ("local", "workers.cpu.cpus=0", "workers.cpu.cpus"),
        ("slurm", "limits.hours=1e300", "limits.hours"),
        ("slurm", "port=65536", "port"),
        ("slurm", "warn_seconds=65536", "warn_seconds"),
        ("slurm", "folder='/shared/rse%j'", "folder"),
        ("aws-gpu", "workers.gpu.disk_gb=2000000", "workers.gpu.disk_gb"),
        ("onprem", "ssh_user=ß", "ssh_user"),
        ("onprem", "ssh_user='-oProxyCommand=x'", "ssh_user"),
        ("onprem", "workers.node.hosts=[a, b c]", "workers.node.hosts.1"),
        ("gcp-gpu", "zone='a;b'", "zone"),
        ("azure-gpu", "image.sku='\u202ex'", "image.sku"),
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


def test_a_kind_or_name_that_is_mistyped_is_hinted_at_and_what_is_not_there_is_said(tmp_path):
    with pytest.raises(InputError, match=r"kind = 'slrum': no such kind of cluster. Did you mean 'slurm'\?"):
        read_cluster(written(tmp_path, SMALL.replace("local", "slrum")))
    with pytest.raises(InputError, match=r"kind: is required. Write `kind:` and one of local, onprem, slurm"):
        read_cluster(written(tmp_path, SMALL.replace("kind: local", "")))
    with pytest.raises(InputError, match=r"no cluster 'slrm'.*Did you mean 'slurm'\?"):
        read_cluster("slrm")
    with pytest.raises(MissingFile):
        read_cluster(str(tmp_path / "absent.yaml"))


@cases(
    ("name", "override", "problem"),
    [
        ("slurm", "workers.other={cpus: 1, memory_gib: 1, price_per_hour: 0}", "must have at most 1 item"),
        ("slurm", "workers.node.min_nodes=3", "min_nodes 3 is more than max_nodes 2"),
        ("onprem", "workers.node.max_nodes=3", "max_nodes 3 is more than its 2 hosts"),
        ("kuberay", "workers.gpu.price_per_hour=-1", "must be >= 0"),
        ("aws-gpu", "image=ubuntu", "must match ^"),
        ("kuberay", "submission_mode=K8JobMode", "Did you mean 'K8sJobMode'?"),
    ],
)
def test_a_value_out_of_its_bounds_is_refused(name, override, problem):
    with pytest.raises(InputErrors) as refused:
        shipped(name, override)
    assert problem in str(refused.value)


@cases(
    ("gres", "gpus", "said"),
    [
        ("gpu:a100:4", 4, "is no NAME or NAME:TYPE"),
        ("gpu:4", 4, "is no NAME or NAME:TYPE"),
        ("gpu:a100:2,scratch:1", 2, "is no NAME or NAME:TYPE"),
        ("gpu:a100", 0, "has no number. Set gpus"),
    ],
)
def test_a_number_of_gpus_stands_in_one_place(tmp_path, gres, gpus, said):
    text = f"extends: slurm\nworkers: {{node: {{gpus: {gpus}, gres: '{gres}'}}}}\n"
    (problem,) = problems_of(tmp_path, text)
    assert said in problem


@cases("gres", ["gpu", "gpu:a100", "gpu:1g.10gb", "gpu:nvidia_h100_80gb", "gpu:3090"])
def test_a_name_and_a_type_of_gpus_are_taken(tmp_path, gres):
    text = f"extends: slurm\nworkers: {{node: {{gpus: 4, gres: '{gres}'}}}}\n"
    assert read_cluster(written(tmp_path, text)).workers["node"].gres == gres
