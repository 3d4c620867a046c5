"""Lost cells, grouped by the node that took them along."""

import time
from collections.abc import Callable, Sequence

from rse_study.cluster.node_capacity import Node
from rse_study.on_ray.queue.cell import Cell, StudyCallback

HOLD_SECONDS = 5.0  # a node and its cells are not declared dead in the same moment


class Losses:
    """Reports losses: one line for a node with its cells, one for each other cell."""

    def __init__(
        self,
        callback: StudyCallback,
        nodes_of: Callable[[str], set[str]],
        said: Callable[[], None] = lambda: None,
        hold_seconds: float = HOLD_SECONDS,
    ) -> None:
        self._callback, self._nodes_of = callback, nodes_of
        self._said, self._hold_seconds = said, hold_seconds
        self._cells: list[tuple[float, Cell, str, set[str]]] = []
        self._nodes: list[tuple[float, Node]] = []
        self._lost_before: dict[str, str] = {}

    @property
    def num_open(self) -> int:
        return len(self._cells)

    def add(self, cell: Cell, reason: str) -> None:
        """Take in a lost cell, which is tried again."""
        self._cells.append((time.monotonic(), cell, reason, self._nodes_of(cell.identity)))
        self.report([])

    def report(self, lost: Sequence[Node]) -> None:
        """Take in lost nodes; report every loss that has waited long enough."""
        now = time.monotonic()
        self._nodes += [(now, node) for node in lost]
        for since, node in list(self._nodes):
            if now - since >= self._hold_seconds:
                self._nodes.remove((since, node))
                self._report_node(node)
        awaited = {node.identity for _, node in self._nodes}
        for entry in list(self._cells):
            since, cell, reason, nodes = entry
            if now - since >= self._hold_seconds and not nodes & awaited:
                self._cells.remove(entry)
                names = [self._lost_before[node] for node in nodes if node in self._lost_before]
                self._callback.lost(cell, f"with node {names[0]}" if names else reason)
                self._said()

    def _report_node(self, node: Node) -> None:
        with_it = [entry for entry in self._cells if node.identity in entry[3]]
        self._cells = [entry for entry in self._cells if entry not in with_it]
        self._lost_before[node.identity] = node.name
        self._callback.node_lost(node.name, [cell for _, cell, _, _ in with_it])
        self._said()
