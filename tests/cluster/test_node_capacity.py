"""How many cells fit on a cluster, which never would, and what they cost there."""

import pytest

from rse_study.cluster.node_capacity import (
    Node,
    concurrency,
    describe_price,
    describe_time,
    device_hour_price,
    nodes_to_come,
    num_fitting,
    require_room,
)
from rse_study.cluster.template import node_types
from rse_study.errors import InputError
from rse_study.study.definition.parts import Resources
from tests.cases import cases
from tests.cluster.samples import shipped


def cluster(*nodes):
    """Nodes from (CPUs, GPUs) each."""
    return [Node(f"10.0.0.{i}", {"CPU": cpus, "GPU": gpus}) for i, (cpus, gpus) in enumerate(nodes)]


@cases(
    ("resources", "nodes", "expected"),
    [
        ({}, [(2.0, 0)], 2),
        ({"workers": 2}, [(2.0, 0)], 1),
        ({"max_concurrent": 1}, [(8.0, 0)], 1),
        ({"gpus": 1}, [(64.0, 3)], 3),
        ({"threads": 2}, [(3.0, 0), (3.0, 0)], 2),  # six CPUs, but one of each node is left over
        ({"workers": 2}, [(1.0, 0), (1.0, 0), (0.0, 0)], 1),  # workers of one cell on two nodes
        ({"workers": 3, "threads": 2}, [(4.0, 0), (4.0, 0), (4.0, 0)], 2),
        ({"gpus": 0.25}, [(64.0, 2)], 8),
        ({"gpus": 0.6}, [(64.0, 3)], 3),  # the rest of a GPU is too small, and two rests are no GPU
    ],
)
def test_as_many_trials_run_as_fit_on_the_nodes(resources, nodes, expected):
    assert concurrency(Resources(**resources), cluster(*nodes)) == expected


CPUS = "CPU(s) on one node: the largest node"
WORKERS = "one trial needs 3 workers with 1 CPU(s) each: there is room for 2 of them on 2 nodes"


@cases(
    ("resources", "nodes", "said"),
    [
        ({"threads": 4}, [(2.0, 0), (3.0, 0)], f"one trial needs 4 {CPUS} (10.0.0.1) has 3 CPU(s)"),
        ({"workers": 2, "threads": 3}, [(2.0, 0)] * 3, f"one worker needs 3 {CPUS} (10.0.0.0) has 2 CPU(s)"),
        ({"workers": 3}, [(1.0, 0), (1.0, 0)], WORKERS),
        ({"gpus": 1}, [(2.0, 0)], "one trial needs 1 CPU(s) and 1 GPU(s) on one node"),
        ({"labels": {"gpu": "h100"}}, [(8.0, 0)], "no node has the label(s) gpu=h100"),
    ],
)
def test_what_no_node_could_ever_run_is_refused(resources, nodes, said):
    """The sum over the nodes would suffice in most of them."""
    with pytest.raises(InputError) as caught:
        require_room(Resources(**resources), cluster(*nodes))
    assert str(caught.value).startswith("resources: ")
    assert said in str(caught.value)


def test_what_may_come_counts_where_it_has_the_labels():
    """As a spec's groups are announced to the driver."""
    text = node_types(shipped("aws-gpu", "workers.gpu.labels={gpu: h100, zone: x}"))
    nodes = nodes_to_come({"RSE_STUDY_NODES": text})
    wanted = Resources(threads=4, gpus=1, labels={"gpu": "h100"})
    require_room(wanted, [*cluster((1.0, 0)), *nodes])
    assert (nodes[0].name, num_fitting(nodes, wanted)) == ("gpu", 8)
    assert num_fitting(nodes, Resources(labels={"gpu": "h100", "zone": "y"})) == 0
    assert nodes_to_come({}) == ()


@cases("text", ["[", "{}x", '["a"]', '[{"name": "a"}]', '[{"resources": {"CPU": "many"}}]'])
def test_node_types_that_nobody_can_read_are_refused(text):
    with pytest.raises(InputError, match=r"RSE_STUDY_NODES: .*a JSON list such as"):
        nodes_to_come({"RSE_STUDY_NODES": text})


GPU = Resources(workers=2, threads=2, gpus=1)


@cases(
    ("name", "override", "said"),
    [
        ("aws-gpu", "workers.gpu.min_nodes=1", "1 to 8 'gpu'; 0.55 to 3.7 an hour, head included"),
        ("onprem", "workers.node.price_per_hour=2", "launcher, nodes: 2 'node'; 4 an hour, head included"),
    ],
)
def test_an_hour_is_the_head_and_every_node_also_those_that_cannot_be_given_back(name, override, said):
    assert said in describe_price(shipped(name, override))


IDLE = "workers.cpu={min_nodes: 0, max_nodes: 100, cpus: 2, memory_gib: 4, price_per_hour: 0.05}"
ONPREM = "workers.node.price_per_hour=1.6"


@cases(
    ("name", "override", "resources", "price"),
    [
        ("aws-gpu", "limits.hours=1", GPU, (8 * 0.45 + 0.1) / 8),  # its node, and its share of the head
        ("aws-gpu", IDLE, GPU, (8 * 0.45 + 0.1) / 8),  # nodes that run no cell are not billed
        ("onprem", ONPREM, Resources(threads=1), 1.6 / 16),
        ("onprem", ONPREM, Resources(threads=9), 1.6 / 9),  # what no cell can use is paid for
        ("slurm", "workers.node.price_per_hour=1.5", Resources(threads=1), 3.0 / 30),  # 2 CPUs drive
        ("local", "limits.hours=1", GPU, 0),  # it can run nothing
    ],
)
def test_a_device_hour_costs_what_runs_cells_divided_by_their_devices(name, override, resources, price):
    assert device_hour_price(shipped(name, override), resources) == pytest.approx(price)


@cases(
    ("resources", "hours", "num_cells", "said"),
    [
        (GPU, 16.0, 9, "4 cells at a time: 2 h by the clock, or more"),
        (GPU, 160.0, 9, "4 cells at a time: 20 h by the clock, or more, and the cluster ends after 12 h"),
        (GPU.model_copy(update={"max_concurrent": 1}), 4.0, 9, "1 cell at a time: 2 h by the clock, or more"),
        (GPU, 12.0, 3, "3 cells at a time: 2 h by the clock, or more"),  # no cell takes less than its time
    ],
)
def test_time_by_the_clock_is_said_of_as_few_cells_as_the_study_wants(resources, hours, num_cells, said):
    assert describe_time(shipped("aws-gpu"), resources, hours, num_cells) == said


@cases(
    ("cell", "num_cells", "hours", "price"),
    [
        ({"gpus": 0.5}, 8, 12, 1),
        ({"gpus": 0.2}, 20, 4.8, 1),
        ({"gpus": 0.3}, 12, 8, 1 / 0.9),  # a tenth of each GPU is paid for and unused
        ({"gpus": 0.2, "threads": 8}, 12, 8, 1 / 0.6),  # 24 cores serve three cells, not five
        ({"gpus": 0.01}, 96, 1, 1 / 0.24),
    ],
)
def test_cells_that_share_a_gpu_take_their_part_of_its_hours(cell, num_cells, hours, price):
    """Four GPUs with 24 cores each; 96 cells that take an hour each."""
    spec = shipped("azure-gpu", "head.price_per_hour=0", "workers.gpu.price_per_hour=1")
    resources = Resources(**cell)
    said = f"{num_cells} cells at a time: {hours:g} h by the clock, or more"
    assert describe_time(spec, resources, 96 * resources.num_devices, 96).startswith(said)
    assert device_hour_price(spec, resources) == pytest.approx(price)
