"""Cost of a cluster so far: node hours at the prices in its spec."""

from collections.abc import Iterable

from rse_study.cluster.backend import NodeHours
from rse_study.cluster.spec import ClusterSpec


def spent(spec: ClusterSpec, nodes: Iterable[NodeHours]) -> float:
    """Return the price of these hours; unknown kinds cost as the dearest worker does."""
    return sum((each.hours * price_of(spec, each.group) for each in nodes), 0.0)


def price_of(spec: ClusterSpec, group: str) -> float:
    """Return the hourly price of a node of a group."""
    if group == "head":
        return spec.head.price_per_hour
    if group in spec.workers:
        return spec.workers[group].price_per_hour
    return max(worker.price_per_hour for worker in spec.workers.values())
