"""Number of cells that fit on a cluster's nodes, and their price; without Ray."""

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rse_study.cluster.spec import ClusterSpec
from rse_study.errors import InputError
from rse_study.study.definition.parts import Resources, num_sharing

NODES_VARIABLE = "RSE_STUDY_NODES"
"""environment variable: node types that may join during a study, as a JSON list"""
NODES = 'a JSON list such as [{"name": "gpu", "resources": {"CPU": 8, "GPU": 1}, "labels": {}, "max": 4}]'
ANY_NUMBER = 1_000_000


@dataclass(frozen=True)
class Node:
    """A machine of a cluster, or a kind of machine that may join it."""

    name: str
    """address, or name of the node type"""
    resources: Mapping[str, float]
    """amounts by Ray's names: CPU, GPU ..."""
    labels: Mapping[str, str] = field(default_factory=dict)
    identity: str = ""
    """Ray's id; empty for a machine that may join"""
    count: int = 1


def share_of(resources: Resources) -> dict[str, float]:
    """Return the resources one worker reserves on one node."""
    gpus = {"GPU": float(resources.gpus)} if resources.gpus else {}
    return {"CPU": float(resources.threads), **gpus}


def has_labels(labels: Mapping[str, str], resources: Resources) -> bool:
    """Whether nodes with these labels are of the kind that cells require."""
    return all(labels.get(key) == value for key, value in resources.labels.items())


def slots(node: Node, resources: Resources) -> int:
    """Return the number of workers that fit on a node.

    >>> slots(Node("a", {"CPU": 8.0, "GPU": 2.0}), Resources(threads=1, gpus=0.6))
    2
    """
    share = share_of(resources).items()
    fits = min(_fits(kind, node.resources.get(kind, 0.0), amount) for kind, amount in share)
    return node.count * fits if has_labels(node.labels, resources) else 0


def _fits(kind: str, total: float, amount: float) -> int:
    if kind == "GPU" and amount < 1:
        return int(total) * num_sharing(amount)
    return math.floor(total / amount + 1e-9)


def num_fitting(nodes: Iterable[Node], resources: Resources) -> int:
    """Return the number of cells that fit at once; each worker's share is on one node."""
    return sum(slots(node, resources) for node in nodes) // resources.workers


def concurrency(resources: Resources, nodes: Iterable[Node]) -> int:
    """Return the number of cells to run in parallel, at most the study's limit."""
    fits = num_fitting(nodes, resources)
    return min(fits, resources.max_concurrent) if resources.max_concurrent else fits


def require_room(resources: Resources, nodes: Sequence[Node]) -> None:
    """Raise InputError if a cell would not fit even on these nodes when idle."""
    if num_fitting(nodes, resources) > 0:
        return
    workers, share = resources.workers, _amounts(share_of(resources))
    labels = ", ".join(f"{key}={value}" for key, value in resources.labels.items())
    needed = f"{share} and the label(s) {labels}" if labels else share
    if there := sum(slots(node, resources) for node in nodes):
        what = f"one trial needs {workers} workers with {needed} each"
        rule = f"there is room for {there} of them on {len(nodes)} node{'s' * (len(nodes) != 1)}"
        remedy = "Lower resources.workers, threads or gpus, or raise --cpus or the number of nodes"
    else:
        what = f"one {'worker' if workers > 1 else 'trial'} needs {needed} on one node"
        missing = f"no node has the label(s) {labels}" if labels else "there is no node"
        rule = _largest(nodes, resources) or missing
        remedy = "Lower resources.threads or gpus, or use larger nodes (on this machine: raise --cpus)"
    raise InputError(what, where="resources", rule=rule, remedy=remedy)


def _largest(nodes: Sequence[Node], resources: Resources) -> str:
    """Describe the largest node with the labels; empty if there is none."""
    alike, kinds = [node for node in nodes if has_labels(node.labels, resources)], share_of(resources)
    held = [({kind: node.resources.get(kind, 0.0) for kind in kinds}, node.name) for node in alike]
    amounts, name = max(held, key=lambda each: [*each[0].values()][::-1], default=({}, ""))
    return f"the largest node ({name}) has {_amounts(amounts)}" if held else ""


def _amounts(share: Mapping[str, float]) -> str:
    return " and ".join(f"{amount:g} {kind}(s)" for kind, amount in share.items())


def nodes_to_come(environment: Mapping[str, str] = os.environ) -> tuple[Node, ...]:
    """Return the node types an autoscaler may start, from the environment.

    >>> text = '[{"name": "gpu", "resources": {"CPU": 8, "GPU": 1}, "max": 3}]'
    >>> nodes_to_come({"RSE_STUDY_NODES": text})[0].count
    3
    """
    text = environment.get(NODES_VARIABLE, "")
    if not text:
        return ()
    try:
        return tuple(_node_type(one) for one in json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        remedy = "Correct it, or leave it out where the cluster does not grow"
        raise InputError(f"{text!r} ({error})", where=NODES_VARIABLE, rule=NODES, remedy=remedy) from None


def _node_type(given: Any) -> Node:
    resources = {str(kind): float(amount) for kind, amount in given["resources"].items()}
    labels = {str(key): str(value) for key, value in given.get("labels", {}).items()}
    most = given.get("max", ANY_NUMBER)
    return Node(str(given.get("name", "node")), resources, labels, count=int(most))


def nodes_of(spec: ClusterSpec) -> list[Node]:
    """Return the nodes for trials, by kind; Slurm's head takes a share of the first."""
    nodes = []
    for name, group in spec.workers.items():
        shares = [(group.cpus, group.max_nodes)]
        if spec.kind == "slurm":
            shares = [(max(0, group.cpus - spec.head.cpus), 1), (group.cpus, group.max_nodes - 1)]
        for cpus, count in shares:
            nodes.append(Node(name, {"CPU": cpus, "GPU": group.gpus}, group.labels, count=count))
    return nodes


def device_hour_price(spec: ClusterSpec, resources: Resources) -> float:
    """Return the price of one device for an hour, on nodes full of cells.

    A device is a GPU, or a core if cells use no GPU. The head and parts of nodes that no cell can use are included.
    """
    price, num_devices = spec.head.price_per_hour, 0.0
    for node in nodes_of(spec):
        devices = slots(node, resources) * (resources.gpus or resources.threads)
        num_devices += devices
        price += spec.workers[node.name].price_per_hour * node.count if devices else 0.0
    return price / num_devices if num_devices else 0.0


def describe_time(spec: ClusterSpec, resources: Resources, device_hours: float, num_to_run: int) -> str:
    """Describe the wall-clock time of this many device hours in a line."""
    num_cells = concurrency(resources, nodes_of(spec))
    num_cells = min(num_cells, num_to_run or num_cells)
    hours = device_hours / (num_cells * resources.workers * (resources.gpus or resources.threads))
    late = f", and the cluster ends after {spec.limits.hours:g} h" if hours > spec.limits.hours else ""
    return f"{num_cells} cell{'s' * (num_cells != 1)} at a time: {hours:.3g} h by the clock, or more{late}"


def describe_price(spec: ClusterSpec) -> str:
    """Describe nodes and the price of an hour, the head included, in a line."""
    groups, least, most = list[str](), spec.head.price_per_hour, spec.head.price_per_hour
    for name, group in spec.workers.items():
        few = f"{group.min_nodes} to " if group.min_nodes < group.max_nodes else ""
        groups.append(f"{few}{group.max_nodes} {name!r}")
        least += group.price_per_hour * group.min_nodes
        most += group.price_per_hour * group.max_nodes
    span = f"{most:g}" if least == most else f"{least:g} to {most:g}"
    price = f"{span} an hour, head included" if most else "free of charge"
    return f"{spec.kind}, nodes: {', '.join(groups)}; {price}"
