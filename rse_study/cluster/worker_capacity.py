"""Nodes of a cluster that run trials."""

from rse_study.cluster.node_capacity import Node
from rse_study.cluster.spec import ClusterSpec


def nodes_of(spec: ClusterSpec) -> list[Node]:
    """Return the nodes for trials, by kind; Slurm's head takes a share of the first."""
    nodes = []
    for name, group in spec.workers.items():
        shares = [(group.cpus, group.max_nodes)]
        if spec.kind == "slurm":
            shares = [(max(0, group.cpus - spec.head.cpus), 1), (group.cpus, group.max_nodes - 1)]
        for cpus, count in shares:
            resources = {"CPU": float(cpus), "GPU": float(group.gpus)}
            nodes.append(Node(name, resources, group.labels, count=count))
    return nodes
