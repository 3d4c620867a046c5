"""Machines of the tests: what they share, what they do not, and what a power cut and a pulled cable do."""

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.nodes.namespaces import PROJECT, SHARED, Nodes, needs_nodes, send

pytestmark = [needs_nodes, pytest.mark.xdist_group("nodes")]  # names that one gives back the other takes


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    shared = tmp_path_factory.mktemp("shared")
    hidden = tmp_path_factory.mktemp("hidden")
    (hidden / "secret").touch()
    with Nodes(2, shared=shared, hidden=[Path(hidden)], env={"EVERYWHERE": "1"}) as two:
        yield two


def test_nodes_have_names_and_addresses_of_their_own(nodes):
    assert nodes[1].run("hostname; echo $EVERYWHERE").stdout.split() == ["rn2", "1"]
    said = "import socket; print(socket.gethostbyname('rn1'), socket.gethostbyname('rn2'))"
    assert nodes[1].run(["python", "-c", said]).stdout.split() == ["10.77.0.1", "10.77.0.2"]


def test_nodes_talk_over_the_network_only(nodes):
    server = nodes[0].start(
        "python -m http.server 8000", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    fetch = "python -c 'import urllib.request as u; print(u.urlopen(\"http://rn1:8000\", timeout=2).status)'"
    deadline = time.monotonic() + 20
    while nodes[1].run(fetch, check=False).stdout.strip() != "200":
        assert time.monotonic() < deadline
    assert "10.77.0." not in subprocess.run(["ip", "route"], capture_output=True, text=True).stdout
    send(server, signal.SIGTERM)
    server.wait(timeout=10)


def test_disks_are_private_and_the_project_is_read_only(nodes):
    for folder in ("/tmp", "/dev/shm"):
        nodes[0].run(f"touch {folder}/mine")
        assert nodes[1].run(f"ls {folder}").stdout.split().count("mine") == 0
        assert not Path(folder, "mine").exists()
    assert nodes[0].run(f"touch {PROJECT}/mine", check=False).returncode != 0
    nodes[0].run(["python", "-c", "import rse_study, torch"])
    nodes[0].run(f"echo hello > {SHARED}/note")
    assert nodes[1].run(f"cat {SHARED}/note").stdout == "hello\n"
    (hidden,) = nodes.hidden
    assert (
        os.listdir(hidden) == ["secret"] and "secret" not in nodes[0].run(f"ls {hidden}", check=False).stdout
    )


def test_a_command_ends_with_its_popen(nodes):
    process = nodes[0].start("sleep 1234")
    while "sleep 1234" not in nodes[0].run("ps ax").stdout:
        pass
    process.kill()
    process.wait()
    time.sleep(0.2)
    assert "sleep 1234" not in nodes[0].run("ps ax").stdout
    assert "sleep 1234" not in nodes[1].run("ps ax").stdout


def test_a_power_cut_ends_everything_but_the_disk(nodes):
    process = nodes[1].start("sleep 1000")
    nodes[1].run("touch /tmp/mine /dev/shm/mine")
    nodes[1].run(f"echo hello > {SHARED}/note")
    nodes[1].kill()
    assert process.wait(timeout=5) != 0
    assert not nodes[1].is_running
    nodes[1].restart()
    assert nodes[1].run("ls /tmp/mine").stdout
    assert not nodes[1].run("ls /dev/shm").stdout
    assert "sleep 1000" not in nodes[1].run("ps ax").stdout
    nodes[1].restart(empty_disk=True)
    assert "mine" not in nodes[1].run("ls /tmp").stdout
    assert nodes[1].run(f"cat {SHARED}/note").stdout == "hello\n"


def test_a_cable_can_be_pulled(nodes):
    python = "python -c 'import socket; socket.create_connection((\"rn2\", 22), timeout=1)' 2>&1 | tail -1"
    assert "refused" in nodes[0].run(python).stdout
    nodes[1].link(up=False)
    assert "refused" not in nodes[0].run(python).stdout
    nodes[1].link(up=True)
    deadline = time.monotonic() + 10
    while "refused" not in nodes[0].run(python).stdout:
        assert time.monotonic() < deadline


def test_two_sets_are_up_at_once_and_leave_nothing():
    with Nodes(1) as one, Nodes(1) as other:
        assert one.prefix != other.prefix
        one[0].run("touch /tmp/mine")
        assert not other[0].run("ls /tmp/mine", check=False).stdout.startswith("/tmp/mine")
        prefixes, homes = (one.prefix, other.prefix), (one.home, other.home)
    spaces = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout
    assert not any(f"{prefix}-" in spaces for prefix in prefixes)
    assert not any(home.exists() for home in homes)


def test_what_a_killed_test_left_is_swept():
    lines = ["import os", "from tests.nodes.namespaces import Nodes", "nodes = Nodes(1).__enter__()"]
    lines += ["nodes[0].start('sleep 4321')", "print(nodes.prefix, flush=True)", "os.kill(os.getpid(), 9)"]
    said = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], cwd=PROJECT, capture_output=True, text=True
    )
    prefix = said.stdout.strip()
    assert prefix, said.stderr
    with ExitStack() as sets:
        for _ in range(10):  # tests beside this one take names, and give them back
            if sets.enter_context(Nodes(1)).prefix == prefix:
                break
        assert "sleep 4321" not in subprocess.run(["ps", "ax"], capture_output=True, text=True).stdout
