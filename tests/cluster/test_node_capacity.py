"""How many cells fit on a cluster, and which never would."""

import json

import pytest

from rse_study.cluster.node_capacity import Node, concurrency, nodes_to_come, num_fitting, require_room
from rse_study.errors import InputError
from rse_study.study.definition.parts import Resources
from tests.cases import cases


def cluster(*nodes):
    """Nodes from (CPUs, GPUs) each."""
    return [
        Node(f"10.0.0.{i}", {"CPU": float(cpus), "GPU": float(gpus)}) for i, (cpus, gpus) in enumerate(nodes)
    ]


@cases(
    ("resources", "nodes", "expected"),
    [
        ({}, [(2.0, 0)], 2),
        ({"workers": 2}, [(2.0, 0)], 1),
        ({"threads": 2, "workers": 2}, [(9.0, 0)], 2),
        ({"max_concurrent": 1}, [(8.0, 0)], 1),
        ({"gpus": 1}, [(64.0, 3)], 3),
        ({"threads": 2}, [(3.0, 0), (3.0, 0)], 2),  # six CPUs, but one of each node is left over
        ({"workers": 2}, [(1.0, 0), (1.0, 0), (0.0, 0)], 1),  # workers of one cell on two nodes
        ({"workers": 3, "threads": 2}, [(4.0, 0), (4.0, 0), (4.0, 0)], 2),
        ({"gpus": 0.25}, [(64.0, 2)], 8),
        ({"gpus": 0.6}, [(64.0, 3)], 3),  # the rest of a GPU is too small, and two rests are no GPU
        ({"gpus": 0.1, "threads": 4}, [(16.0, 1)], 4),
    ],
)
def test_as_many_trials_run_as_fit_on_the_nodes(resources, nodes, expected):
    assert concurrency(Resources(**resources), cluster(*nodes)) == expected


@cases(
    ("resources", "nodes", "said"),
    [
        (
            {"threads": 4},
            [(2.0, 0), (3.0, 0)],
            "one trial needs 4 CPU(s) on one node: the largest node (10.0.0.1) has 3 CPU(s)",
        ),
        (
            {"workers": 2, "threads": 3},
            [(2.0, 0), (2.0, 0), (2.0, 0)],
            "one worker needs 3 CPU(s) on one node: the largest node (10.0.0.0) has 2 CPU(s)",
        ),
        (
            {"workers": 3},
            [(1.0, 0), (1.0, 0)],
            "one trial needs 3 workers with 1 CPU(s) each: there is room for 2 of them on 2 nodes",
        ),
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


def test_a_label_chooses_nodes():
    nodes = [
        Node("a", {"CPU": 8.0, "GPU": 8.0}, {"gpu": "a10"}),
        Node("b", {"CPU": 8.0, "GPU": 2.0}, {"gpu": "h100", "zone": "x"}),
    ]
    assert num_fitting(nodes, Resources(gpus=1, labels={"gpu": "h100"})) == 2
    assert num_fitting(nodes, Resources(gpus=1, labels={"gpu": "h100", "zone": "y"})) == 0


def test_what_may_come_counts():
    types = [{"name": "big", "resources": {"CPU": 4}, "labels": {"kind": "big"}, "max": 3}]
    (node,) = nodes_to_come({"RSE_STUDY_NODES": json.dumps(types)})
    wanted = Resources(threads=4, labels={"kind": "big"})
    require_room(wanted, [*cluster((1.0, 0)), node])
    assert num_fitting([node], wanted) == 3
    assert nodes_to_come({}) == ()


@cases("text", ["[", "{}x", '["a"]', '[{"name": "a"}]', '[{"resources": {"CPU": "many"}}]'])
def test_node_types_that_nobody_can_read_are_refused(text):
    with pytest.raises(InputError, match=r"RSE_STUDY_NODES: .*a JSON list such as"):
        nodes_to_come({"RSE_STUDY_NODES": text})
