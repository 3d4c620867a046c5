"""The size of a running study, as nodes join and leave with their cells."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Any
from uuid import uuid4

from rse_study.cluster import node_capacity
from rse_study.errors import Unavailable
from rse_study.on_ray.nodes.cluster_watch import ClusterWatch
from rse_study.on_ray.nodes.private_ray import autoscaler_requests
from rse_study.on_ray.queue import Cell, StudyCallback
from rse_study.study.definition.parts import Resources

MAX_BUNDLES = 500  # an autoscaler packs them one by one
# A driver that was killed asks for nothing any more; a request of `ray.autoscaler.sdk` would stand for ever, and
# keep nodes that nobody uses.
EXPIRE_SECONDS, RENEW_SECONDS = 90.0, 20.0


NODES_SECONDS = 1800.0  # without a node that has room for a cell; a cloud may have none to give for a while
FIRST_NODES_SECONDS = 300.0  # until the first node of a cluster that does not grow
POLL_SECONDS = 1.0


class ElasticSize:
    """Number of cells of one kind that fit on a cluster, now and later.

    Its request to the autoscaler is renewed, and ends with its driver. It uses the actor through which Ray Train
    requests workers, so that neither request replaces the other.
    """

    def __init__(
        self, watch: ClusterWatch, resources: Resources, callback: StudyCallback, *, is_own: bool
    ) -> None:
        self._watch, self._resources, self._callback, self._is_own = watch, resources, callback, is_own
        self._types = () if is_own else node_capacity.nodes_to_come()
        self._requests: Any = None
        self._num_requested, self._requested, self._asks = 0, 0.0, False
        self._known = {node.identity: node for node in watch.nodes}
        self._empty_since: float | None = None

    def concurrency(self) -> int:
        """Return how many cells may run at once now."""
        return node_capacity.concurrency(self._resources, self._watch.nodes)

    def await_room(self, closing: Event) -> None:
        """Wait for room for a cell: InputError where none can come, or none came in time."""
        since = time.monotonic()
        while not node_capacity.num_fitting(self._watch.nodes, self._resources) and not closing.is_set():
            self._watch.check()
            waited = time.monotonic() - since
            if not self._may_come() or (not self._types and waited > FIRST_NODES_SECONDS):
                node_capacity.require_room(self._resources, self._watch.nodes)
            self.follow(1, 0)
            closing.wait(POLL_SECONDS)

    def _may_come(self) -> bool:
        """Whether a node with room may still join; refuse a cell that fits none."""
        if self._types:
            node_capacity.require_room(self._resources, [*self._watch.nodes, *self._types])
            return True
        kind = "GPU" if self._resources.gpus else "CPU"
        return not self._is_own and not any(node.resources.get(kind) for node in self._watch.nodes)

    def follow(self, num_wanted: int, num_running: int) -> list[node_capacity.Node]:
        """Announce new nodes, request missing ones, and return those that left."""
        nodes = {node.identity: node for node in self._watch.nodes}
        joined = [node for identity, node in nodes.items() if identity not in self._known]
        gone = [node for identity, node in self._known.items() if identity not in nodes]
        self._known = nodes
        for node in joined:
            fits = node_capacity.slots(node, self._resources)
            self._callback.message(f"node {node.name} joined: room for {fits} worker{'s' * (fits != 1)}")
        self._ask(num_wanted, num_running)
        self._note_room(num_wanted)
        return gone

    def close(self) -> None:
        """Withdraw the request to the autoscaler."""
        self._request(0)

    def _ask(self, num_wanted: int, num_running: int) -> None:
        limit = self._resources.max_concurrent
        most = min(num_wanted, limit) if limit else num_wanted
        if self._is_own or not (
            self._asks or most > node_capacity.num_fitting(self._watch.nodes, self._resources)
        ):
            return
        self._asks = True
        # Ray Train asks for the workers of running cells itself.
        self._request(max(0, most - num_running) if self._resources.runs_on == "train" else most)

    def _request(self, num_cells: int) -> None:
        """Request room for this number of cells, replacing the last request."""
        is_new = num_cells != self._num_requested
        if not is_new and (num_cells == 0 or time.monotonic() - self._requested < RENEW_SECONDS):
            return
        self._num_requested, self._requested = num_cells, time.monotonic()
        if self._requests is None:
            self._requests = autoscaler_requests(f"rse-study-{uuid4().hex}")
        if num_cells == 0:
            self._requests.cancel_request()
            return
        number, labels = min(num_cells * self._resources.workers, MAX_BUNDLES), self._resources.labels
        self._requests.request_resources(
            resources=[node_capacity.share_of(self._resources)] * number,
            expire_after_s=EXPIRE_SECONDS,
            label_selectors=[labels] * number if labels else None,
        )

    def _note_room(self, num_wanted: int) -> None:
        if node_capacity.num_fitting(self._watch.nodes, self._resources) or not num_wanted:
            self._empty_since = None
        elif self._empty_since is None:
            self._empty_since = time.monotonic()
            self._callback.message("no node has room for a cell now: waiting for nodes to join")
        elif time.monotonic() - self._empty_since > NODES_SECONDS:
            what = f"no node had room for a cell for {NODES_SECONDS / 60:g} minutes"
            raise Unavailable(what, "Bring nodes back; the same command then resumes the run")


HOLD_SECONDS = 5.0  # a node and its cells are not declared dead in the same moment


@dataclass(eq=False)
class Losses:
    """Reports losses: one line for a node with its cells, one for each other cell."""

    callback: StudyCallback
    nodes_of: Callable[[str], set[str]]
    said: Callable[[], None] = lambda: None
    hold_seconds: float = HOLD_SECONDS
    _cells: list[tuple[float, Cell, str, set[str]]] = field(default_factory=list)
    _nodes: list[tuple[float, node_capacity.Node]] = field(default_factory=list)
    _lost_before: dict[str, str] = field(default_factory=dict)

    @property
    def num_open(self) -> int:
        return len(self._cells)

    def add(self, cell: Cell, reason: str) -> None:
        """Take in a lost cell, which is tried again."""
        self._cells.append((time.monotonic(), cell, reason, self.nodes_of(cell.identity)))
        self.report([])

    def report(self, lost: Sequence[node_capacity.Node]) -> None:
        """Take in lost nodes; report every loss that has waited long enough."""
        now = time.monotonic()
        self._nodes += [(now, node) for node in lost]
        for since, node in list(self._nodes):
            if now - since >= self.hold_seconds:
                self._nodes.remove((since, node))
                self._report_node(node)
        awaited = {node.identity for _, node in self._nodes}
        for entry in list(self._cells):
            since, cell, reason, nodes = entry
            if now - since >= self.hold_seconds and not nodes & awaited:
                self._cells.remove(entry)
                names = [self._lost_before[node] for node in nodes if node in self._lost_before]
                self.callback.lost(cell, f"with node {names[0]}" if names else reason)
                self.said()

    def _report_node(self, node: node_capacity.Node) -> None:
        with_it = [entry for entry in self._cells if node.identity in entry[3]]
        self._cells = [entry for entry in self._cells if entry not in with_it]
        self._lost_before[node.identity] = node.name
        self.callback.node_lost(node.name, [cell for _, cell, _, _ in with_it])
        self.said()
