"""The size of a running study, as nodes join and leave."""

import time
from threading import Event

from rse_study.cluster.node_capacity import Node, concurrency, nodes_to_come, num_fitting, require_room, slots
from rse_study.errors import Unavailable
from rse_study.on_ray.nodes.cluster_watch import ClusterWatch
from rse_study.on_ray.nodes.demand import Demand
from rse_study.on_ray.queue.cell import StudyCallback
from rse_study.study.definition.resources import Resources

NODES_SECONDS = 1800.0  # without a node that has room for a cell; a cloud may have none to give for a while
FIRST_NODES_SECONDS = 300.0  # until the first node of a cluster that does not grow
POLL_SECONDS = 1.0


class ElasticSize:
    """Number of cells of one kind that fit on a cluster, now and later."""

    def __init__(
        self, watch: ClusterWatch, resources: Resources, callback: StudyCallback, *, is_own: bool
    ) -> None:
        self._watch, self._resources, self._callback, self._is_own = watch, resources, callback, is_own
        self._types = () if is_own else nodes_to_come()
        self._demand, self._asks = Demand(resources), False
        self._known = {node.identity: node for node in watch.nodes}
        self._empty_since: float | None = None

    def concurrency(self) -> int:
        """Return how many cells may run at once now."""
        return concurrency(self._resources, self._watch.nodes)

    def await_room(self, closing: Event) -> None:
        """Wait for room for a cell: InputError where none can come, or none came in time."""
        since = time.monotonic()
        while not num_fitting(self._watch.nodes, self._resources) and not closing.is_set():
            self._watch.check()
            waited = time.monotonic() - since
            if not self._may_come() or (not self._types and waited > FIRST_NODES_SECONDS):
                require_room(self._resources, self._watch.nodes)
            self.follow(1, 0)
            closing.wait(POLL_SECONDS)

    def _may_come(self) -> bool:
        """Whether a node with room may still join; refuse a cell that fits none."""
        if self._types:
            require_room(self._resources, [*self._watch.nodes, *self._types])
            return True
        kind = "GPU" if self._resources.gpus else "CPU"
        return not self._is_own and not any(node.resources.get(kind) for node in self._watch.nodes)

    def follow(self, num_wanted: int, num_running: int) -> list[Node]:
        """Announce new nodes, request missing ones, and return those that left."""
        nodes = {node.identity: node for node in self._watch.nodes}
        joined = [node for identity, node in nodes.items() if identity not in self._known]
        gone = [node for identity, node in self._known.items() if identity not in nodes]
        self._known = nodes
        for node in joined:
            fits = slots(node, self._resources)
            self._callback.message(f"node {node.name} joined: room for {fits} worker{'s' * (fits != 1)}")
        self._ask(num_wanted, num_running)
        self._note_room(num_wanted)
        return gone

    def close(self) -> None:
        """Withdraw the request to the autoscaler."""
        self._demand.ask(0)

    def _ask(self, num_wanted: int, num_running: int) -> None:
        limit = self._resources.max_concurrent
        most = min(num_wanted, limit) if limit else num_wanted
        if self._is_own or not (self._asks or most > num_fitting(self._watch.nodes, self._resources)):
            return
        self._asks = True
        # Ray Train asks for the workers of running cells itself.
        self._demand.ask(max(0, most - num_running) if self._resources.runs_on == "train" else most)

    def _note_room(self, num_wanted: int) -> None:
        if num_fitting(self._watch.nodes, self._resources) or not num_wanted:
            self._empty_since = None
        elif self._empty_since is None:
            self._empty_since = time.monotonic()
            self._callback.message("no node has room for a cell now: waiting for nodes to join")
        elif time.monotonic() - self._empty_since > NODES_SECONDS:
            what = f"no node had room for a cell for {NODES_SECONDS / 60:g} minutes"
            raise Unavailable(what, "Bring nodes back; the same command then resumes the run")
