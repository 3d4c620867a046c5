"""Which lines a lost node and its cells come to."""

import shutil
import subprocess
import threading

import pytest

from rse_study.cluster.node_capacity import Node
from rse_study.on_ray.nodes import elastic as losses
from rse_study.on_ray.nodes.cluster_watch import ClusterWatch, RayLost, StartingRay
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


# A thread that looks at Ray: who hears that it is gone, and what happens where nobody does.


class Looks:
    """One node, until it is told that Ray is gone."""

    def __init__(self):
        self.reason = ""

    def look(self):
        if self.reason:
            raise RayLost(self.reason)
        return (Node("here", {"CPU": 1.0}),)

    def clear(self): ...


def watched(stuck_seconds, *, is_instant=False):
    looks, exits, ended = Looks(), [], threading.Event()
    looks.is_instant = is_instant

    def end(reason):
        exits.append(reason)
        ended.set()

    return looks, ClusterWatch(looks, end, stuck_seconds), exits, ended


def check_for_10_seconds(watch):
    for _ in range(100):
        watch.check()
        threading.Event().wait(0.1)


def hear(watch):
    with pytest.raises(RayLost, match="it ended"):
        check_for_10_seconds(watch)


def test_whoever_asks_hears_it_and_the_process_goes_on():
    looks, watch, exits, ended = watched(2.0)
    watch.check()
    assert [node.name for node in watch.nodes] == ["here"]
    looks.reason = "it ended"
    hear(watch)
    assert not ended.wait(3.0)
    assert exits == []


def test_a_driver_that_cannot_ask_is_ended():
    looks, watch, exits, ended = watched(0.2)
    looks.reason = "it ended"
    assert ended.wait(10.0)
    assert exits == ["it ended"]
    hear(watch)


def test_a_watch_that_is_closed_ends_nobody():
    looks, watch, exits, ended = watched(0.2)
    watch.close()
    looks.reason = "it ended"
    assert not ended.wait(2.0)
    assert exits == []


def test_a_head_that_ends_while_ray_starts_is_noticed(tmp_path):
    """Its own child, under the head's name; another one that was there before does not count."""
    head = shutil.copy(shutil.which("sleep"), tmp_path / "gcs_server")
    with subprocess.Popen([head, "60"]) as earlier:
        starting = StartingRay()
        earlier.kill()
    assert starting.look() == ()
    with subprocess.Popen([head, "60"]) as own:
        assert starting.look() == ()
        own.kill()
        own.wait()
        with pytest.raises(RayLost, match=r"its head process \(GCS\) ended while it started"):
            starting.look()
