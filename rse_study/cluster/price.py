"""Prices of a cluster: per hour, and per device hour of training."""

from rse_study.cluster.node_capacity import Node, num_fitting, slots
from rse_study.cluster.spec import ClusterSpec
from rse_study.study.definition.parts import Resources


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


def hourly_price(spec: ClusterSpec) -> tuple[float, float]:
    """Return the least and the highest price of an hour, the head included."""
    head, groups = spec.head.price_per_hour, spec.workers.values()
    least = head + sum(group.price_per_hour * group.min_nodes for group in groups)
    return least, head + sum(group.price_per_hour * group.max_nodes for group in groups)


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
    least, most = hourly_price(spec)
    if not most:
        return f"{spec.kind}, nodes: {groups}; free of charge"
    span = f"{most:g}" if least == most else f"{least:g} to {most:g}"
    return f"{spec.kind}, nodes: {groups}; {span} an hour, head included"
