"""Which lines a lost node and its cells come to."""

import pytest

from rse_study.cluster.node_capacity import Node
from rse_study.on_ray.nodes import elastic as losses
from rse_study.on_ray.nodes.elastic import Losses
from rse_study.on_ray.queue import Cell
from rse_study.training.trial import Trial
from tests.clock import Clock
from tests.on_ray.listener import Listener

NODE, OTHER = Node("10.77.0.3", {}, identity="n3"), Node("10.77.0.4", {}, identity="n4")


def cell(number):
    return Cell(number, 0, f"{number:064x}", Trial())


class Lines(Listener):
    """A callback that keeps what it hears of losses."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def lost(self, cell, reason):
        self.lines.append((cell.number, reason))

    def node_lost(self, node, cells):
        self.lines.append((node, [cell.number for cell in cells]))


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(losses, "time", made)
    return made


def losses_of(nodes_of_cells, lines, hold_seconds=5.0):
    nodes = {cell(number).identity: nodes for number, nodes in nodes_of_cells.items()}
    return Losses(lines, lambda identity: nodes.get(identity, set()), hold_seconds=hold_seconds)


def test_a_node_and_its_cells_are_one_line_in_whatever_order_they_are_heard_of(clock):
    lines = Lines()
    lost = losses_of({1: {"n3"}, 2: {"n3", "n4"}, 3: {"n4"}}, lines)
    lost.add(cell(1), "its process ended")
    lost.report([NODE])
    clock.now += 2
    lost.add(cell(2), "connection reset")
    lost.add(cell(3), "out of memory")
    assert (lines.lines, lost.num_open) == ([], 3)
    for seconds in (3.5, 3):
        clock.now += seconds
        lost.report([])
    assert lines.lines == [("10.77.0.3", [1, 2]), (3, "out of memory")]
    assert lost.num_open == 0


def test_a_cell_that_notices_late_names_the_node(clock):
    lines = Lines()
    lost = losses_of({1: {"n3"}}, lines)
    lost.report([NODE, OTHER])
    clock.now += 6
    lost.report([])
    lost.add(cell(1), "connection reset")
    clock.now += 6
    lost.report([])
    assert lines.lines == [("10.77.0.3", []), ("10.77.0.4", []), (1, "with node 10.77.0.3")]


def test_on_one_node_nothing_is_waited_for(clock):
    lines = Lines()
    lost = losses_of({1: {"n3"}}, lines, hold_seconds=0.0)
    lost.add(cell(1), "killed")
    assert lines.lines == [(1, "killed")]
