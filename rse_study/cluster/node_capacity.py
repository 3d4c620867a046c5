"""Number of cells that fit on a cluster's nodes: pure arithmetic, without Ray."""

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rse_study.errors import InputError
from rse_study.study.definition.parts import Resources, num_sharing

NODES_VARIABLE = "RSE_STUDY_NODES"
"""environment variable: node types that may join during a study, as a JSON list"""
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
    if not has_labels(node.labels, resources):
        return 0
    return node.count * min(
        _fits(kind, node.resources.get(kind, 0.0), amount) for kind, amount in share_of(resources).items()
    )


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
    where, workers = "resources", resources.workers
    if not any(slots(node, resources) for node in nodes):
        what = f"one {'worker' if workers > 1 else 'trial'} needs {_show(share_of(resources), resources)} on one node"
        remedy = "Lower resources.threads or gpus, or use larger nodes (on this machine: raise --cpus)"
        raise InputError(what, where=where, rule=_largest(nodes, resources), remedy=remedy)
    there = sum(slots(node, resources) for node in nodes)
    what = f"one trial needs {workers} workers with {_show(share_of(resources), resources)} each"
    count = "1 node" if len(nodes) == 1 else f"{len(nodes)} nodes"
    rule = f"there is room for {there} of them on {count}"
    remedy = "Lower resources.workers, threads or gpus, or raise --cpus or the number of nodes"
    raise InputError(what, where=where, rule=rule, remedy=remedy)


def _largest(nodes: Sequence[Node], resources: Resources) -> str:
    alike = [node for node in nodes if has_labels(node.labels, resources)]
    if not alike:
        return (
            f"no node has the label(s) {_show_labels(resources)}" if resources.labels else "there is no node"
        )
    kinds = list(share_of(resources))
    largest = max(alike, key=lambda node: [node.resources.get(kind, 0.0) for kind in reversed(kinds)])
    has = " and ".join(f"{largest.resources.get(kind, 0.0):g} {kind}(s)" for kind in kinds)
    return f"the largest node ({largest.name}) has {has}"


def _show(share: Mapping[str, float], resources: Resources) -> str:
    amounts = " and ".join(f"{amount:g} {kind}(s)" for kind, amount in share.items())
    return f"{amounts} and the label(s) {_show_labels(resources)}" if resources.labels else amounts


def _show_labels(resources: Resources) -> str:
    return ", ".join(f"{key}={value}" for key, value in resources.labels.items())


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
        rule = (
            'a JSON list such as [{"name": "gpu", "resources": {"CPU": 8, "GPU": 1}, "labels": {}, "max": 4}]'
        )
        remedy = "Correct it, or leave it out where the cluster does not grow"
        raise InputError(f"{text!r} ({error})", where=NODES_VARIABLE, rule=rule, remedy=remedy) from None


def _node_type(given: Any) -> Node:
    resources = {str(kind): float(amount) for kind, amount in given["resources"].items()}
    labels = {str(key): str(value) for key, value in given.get("labels", {}).items()}
    most = given.get("max", ANY_NUMBER)
    return Node(str(given.get("name", "node")), resources, labels, count=int(most))
