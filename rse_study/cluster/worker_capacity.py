"""Number of a cell's workers that a node, and a cluster, can hold."""

from collections.abc import Iterator

from rse_study.cluster.kinds.slurm import SlurmCluster
from rse_study.cluster.machines import WorkerGroup
from rse_study.cluster.node_capacity import Node, slots
from rse_study.cluster.spec import ClusterSpec
from rse_study.study.definition.resources import Resources


def per_node(group: WorkerGroup, resources: Resources, cpus: int | None = None) -> int:
    """Return the number of workers that fit on a node, given its `cpus` for trials."""
    has = {"CPU": float(group.cpus if cpus is None else cpus), "GPU": float(group.gpus)}
    return slots(Node("", has, group.labels), resources)


def nodes_of(spec: ClusterSpec) -> Iterator[tuple[str, WorkerGroup, int, int]]:
    """Yield name, group, CPUs left for trials, and the maximum number of such nodes."""
    for name, group in spec.workers.items():
        if isinstance(spec, SlurmCluster):  # head and driver take a share of the first node
            yield name, group, max(0, group.cpus - spec.head.cpus), 1
            if group.max_nodes > 1:
                yield name, group, group.cpus, group.max_nodes - 1
        else:
            yield name, group, group.cpus, group.max_nodes


def num_fitting(spec: ClusterSpec, resources: Resources) -> int:
    """Return the number of workers that fit on the cluster at its largest."""
    return sum(per_node(group, resources, cpus) * count for _, group, cpus, count in nodes_of(spec))
