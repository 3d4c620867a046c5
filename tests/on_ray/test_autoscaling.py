"""A study on a cluster that grows and shrinks, with Ray's fake provider of nodes and its own autoscaler."""

import json
import sqlite3
import subprocess
import time

import pytest

from tests.cluster.samples import TINY_GRID
from tests.nodes.autoscaling import IDLE_MINUTES
from tests.nodes.namespaces import Node, Nodes, needs_nodes

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("autoscaling"), needs_nodes]
MOST = 2
TYPES = json.dumps([{"name": "worker", "resources": {"CPU": 1}, "max": MOST}])
STUDY = TINY_GRID.format(name="grown", amount=100, every=10, seeds=[0, 1])  # four cells
ENVIRONMENT = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
NODES = """
import json, urllib.request as u
print(json.dumps(json.load(u.urlopen("http://127.0.0.1:8265/api/v0/nodes", timeout=10))["data"]["result"]["result"]))
"""


@pytest.fixture
def machine():
    """A machine with a head of Ray on it, without CPUs; its autoscaler starts up to two nodes of one CPU."""
    with Nodes(1, env=ENVIRONMENT) as nodes:
        (machine,) = nodes.all
        machine.run(["python", "-m", "tests.nodes.autoscaling", str(MOST)])
        yield machine


def num_workers(machine: Node) -> int:
    """Nodes that offer a CPU; none where Ray does not answer in time."""
    asked = machine.run(["python", "-c", NODES], check=False, stderr=subprocess.DEVNULL)
    nodes = json.loads(asked.stdout) if asked.returncode == 0 else []
    return sum(node["state"] == "ALIVE" and node["resources_total"].get("CPU", 0) > 0 for node in nodes)


def outcomes(machine: Node) -> list[str]:
    """Outcomes of all attempts so far."""
    ledger = machine.disk / "tmp" / "store" / "grown" / "ledger.sqlite"
    try:
        with sqlite3.connect(f"file:{ledger}?mode=ro", uri=True, timeout=10) as opened:
            return [outcome for (outcome,) in opened.execute("SELECT outcome FROM attempt")]
    except sqlite3.Error:
        return []  # it is not there yet


def test_a_cluster_grows_to_what_a_study_needs_and_shrinks_after_it(machine):
    (machine.disk / "tmp" / "study.yaml").write_text(STUDY, encoding="utf-8")
    assert num_workers(machine) == 0
    begun, log = time.monotonic(), machine.disk / "driver.log"
    command = "rse-study run /tmp/study.yaml --address auto --store /tmp/store"
    driver = machine.start(command, env={"RSE_STUDY_NODES": TYPES}, log=log)
    seen: list[tuple[int, int, int]] = []
    while driver.poll() is None:
        assert time.monotonic() < begun + 900, log.read_text(encoding="utf-8")
        seen.append(
            (round(time.monotonic() - begun), num_workers(machine), outcomes(machine).count("running"))
        )
        time.sleep(1.0)
    said = log.read_text(encoding="utf-8")
    assert driver.returncode == 0, said
    assert max(workers for _, workers, _ in seen) == MOST, seen
    assert max(running for _, _, running in seen) == MOST, (seen, said)
    assert set(outcomes(machine)) == {"complete"}
    ended = time.monotonic()
    while left := num_workers(machine):
        assert time.monotonic() < ended + 60 * IDLE_MINUTES + 240, f"{left} workers are left"
        time.sleep(1.0)
    grown = next(seconds for seconds, workers, _ in seen if workers == MOST)
    gone = time.monotonic() - ended
    print(f"{MOST} nodes after {grown} s, none {gone:.0f} s after the study's end\n{said}")
