"""A script waits for the head, and for workers, without being a driver of its own."""

import socket
import sys
import time

import pytest

from rse_study.on_ray.wait_for_nodes import main, wait_for_nodes


@pytest.fixture
def nobody():
    """An address at which nobody listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{listener.getsockname()[1]}"


def test_a_head_that_is_not_there_is_not_waited_for_longer_than_told(nobody, monkeypatch, capsys):
    began = time.monotonic()
    assert wait_for_nodes(nobody, 1, 1.5) is None
    assert 1.5 <= time.monotonic() - began < 10
    monkeypatch.setenv("RAY_ADDRESS", nobody)
    monkeypatch.setattr(sys, "argv", ["wait_for_nodes", "1", "0"])
    assert main() == 1
    assert capsys.readouterr().err == "Ray's head does not answer\n"


@pytest.mark.xdist_group("ray")
def test_nodes_with_cpus_are_counted(cluster, monkeypatch, capsys):
    assert wait_for_nodes(cluster, 0, 5.0) == wait_for_nodes(cluster, 1, 5.0) == 1
    monkeypatch.setenv("RAY_ADDRESS", cluster)
    monkeypatch.setattr(sys, "argv", ["wait_for_nodes", "2", "0"])
    assert main() == 0, "some came: the study starts on them"
    assert capsys.readouterr().out == "1 of 2 workers have joined\n"
