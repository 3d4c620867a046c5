"""A thread that looks at Ray: who hears that it is gone, and what happens where nobody does."""

import shutil
import subprocess
import threading

import pytest

from rse_study.cluster.node_capacity import Node
from rse_study.on_ray.nodes.cluster_watch import ClusterWatch, RayLost, StartingRay


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
