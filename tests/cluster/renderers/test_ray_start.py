"""The driver is told which nodes may still come, in words that it reads."""

import shlex

from rse_study.cluster import node_capacity as capacity
from rse_study.cluster.node_capacity import NODES_VARIABLE
from rse_study.cluster.renderers.ray_start import driver_variables
from rse_study.yaml12 import parse_yaml
from tests.cases import cases
from tests.cluster.golden_files import rendered
from tests.cluster.samples import shipped


def test_the_driver_reads_the_groups_of_the_spec():
    (node,) = capacity.nodes_to_come(driver_variables(shipped("aws-gpu", "workers.gpu.labels={gpu: t4}")))
    assert (node.name, node.count, dict(node.labels)) == ("gpu", 8, {"gpu": "t4"})
    assert {kind: node.resources[kind] for kind in ("CPU", "GPU")} == {"CPU": 4, "GPU": 1}


@cases("name", ["local", "onprem", "slurm"])
def test_it_is_told_where_their_number_is_fixed_too_for_they_may_come_late(name):
    (node,) = capacity.nodes_to_come(driver_variables(shipped(name)))
    assert node.count == 2


def test_a_launchers_head_has_it_and_no_worker():
    content = parse_yaml(rendered("gcp-gpu")[0].text, where="")
    (head,) = (line for line in content["head_start_ray_commands"] if "ray start" in line)
    (word,) = (word for word in shlex.split(head) if word.startswith(NODES_VARIABLE))
    assert capacity.nodes_to_come(dict([word.split("=", 1)]))[0].count == 8
    assert NODES_VARIABLE not in " ".join(content["worker_start_ray_commands"])


def test_a_pod_of_the_head_has_it_and_no_worker():
    manifest = parse_yaml(rendered("kuberay")[1].text, where="")["spec"]["rayClusterSpec"]
    groups = [manifest["headGroupSpec"], *manifest["workerGroupSpecs"]]
    containers = [group["template"]["spec"]["containers"][0] for group in groups]
    variables = [{each["name"]: each["value"] for each in container["env"]} for container in containers]
    assert [NODES_VARIABLE in each for each in variables] == [True, False]
    assert capacity.nodes_to_come(variables[0])[0].name == "gpu"
