"""Prices of a cluster: per hour, and per device hour of training."""

from dataclasses import dataclass

from rse_study.cluster.node_capacity import num_fitting, slots
from rse_study.cluster.spec import ClusterSpec
from rse_study.cluster.worker_capacity import nodes_of
from rse_study.study.definition.resources import Resources


@dataclass(frozen=True)
class HourlyPrice:
    """The price of a cluster for an hour."""

    least: float
    """head and the nodes that always run"""
    most: float


def hourly_price(spec: ClusterSpec) -> HourlyPrice:
    """Return the price of the whole cluster for an hour."""
    head, groups = spec.head.price_per_hour, spec.workers.values()
    least = head + sum(group.price_per_hour * group.min_nodes for group in groups)
    return HourlyPrice(least, head + sum(group.price_per_hour * group.max_nodes for group in groups))


def device_hour_price(spec: ClusterSpec, resources: Resources) -> float:
    """Return the price of one device for an hour, on nodes full of cells.

    A device is a GPU, or a core if cells use no GPU. The head and parts of nodes that no cell can use are included.
    """
    price, num_devices = spec.head.price_per_hour, 0.0
    for node in nodes_of(spec):
        devices = float(slots(node, resources) * (resources.gpus or resources.threads))
        num_devices += devices
        price += spec.workers[node.name].price_per_hour * node.count if devices else 0.0
    return price / num_devices if num_devices else 0.0


def describe_time(spec: ClusterSpec, resources: Resources, device_hours: float, num_to_run: int) -> str:
    """Describe the wall-clock time of this many device hours in a line."""
    num_cells = num_fitting(nodes_of(spec), resources)
    num_cells = min(num_cells, num_to_run or num_cells)
    if resources.max_concurrent:
        num_cells = min(num_cells, resources.max_concurrent)
    hours = device_hours / (num_cells * resources.workers * (resources.gpus or resources.threads))
    cells = f"{num_cells} cell{'s' * (num_cells != 1)} at a time"
    late = f", and the cluster ends after {spec.limits.hours:g} h" if hours > spec.limits.hours else ""
    return f"{cells}: {hours:.3g} h by the clock, or more{late}"


def describe_price(spec: ClusterSpec) -> str:
    """Describe nodes and price of a cluster in a line."""
    groups = ", ".join(
        f"{group.min_nodes} to {group.max_nodes} {name!r}"
        if group.min_nodes < group.max_nodes
        else f"{group.max_nodes} {name!r}"
        for name, group in spec.workers.items()
    )
    price = hourly_price(spec)
    if not price.most:
        return f"{spec.kind}, nodes: {groups}; free of charge"
    span = f"{price.most:g}" if price.least == price.most else f"{price.least:g} to {price.most:g}"
    return f"{spec.kind}, nodes: {groups}; {span} an hour, head included"
