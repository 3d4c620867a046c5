"""A study on a cluster that grows and shrinks, with Ray's fake provider of nodes and its own autoscaler."""

import json
import shutil
import subprocess
import time

import pytest

from rse_study.data.location import cache_dir
from tests.nodes.autoscaling import IDLE_MINUTES
from tests.nodes.namespaces import Node, Nodes, needs_nodes
from tests.nodes.ray_cluster import ENVIRONMENT, NODES, TOKEN_PATH
from tests.nodes.small_studies import grid
from tests.nodes.submission import attempts_of

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("autoscaling"), needs_nodes]
MOST = 3
TYPES = json.dumps([{"name": "worker", "resources": {"CPU": 1}, "max": MOST}])
STUDY = grid("grown", num_steps=100, every=10, seeds=[0, 1, 2])  # six cells


@pytest.fixture
def machine():
    """A machine with a head of Ray on it, without CPUs; its autoscaler starts up to three nodes of one CPU."""
    with Nodes(1, env=ENVIRONMENT) as nodes:
        (machine,) = nodes.all
        token = machine.disk / TOKEN_PATH.lstrip("/")
        token.write_text("0123456789abcdef" * 4, encoding="utf-8")
        token.chmod(0o600)
        for made in (cache_dir() / "assets").glob("t*"):
            shutil.copytree(made, machine.disk / "tmp" / "cache" / "assets" / made.name)
        machine.run(["python", "-m", "tests.nodes.autoscaling", str(MOST)])
        yield machine


def num_workers(machine: Node) -> int:
    """Nodes that offer a CPU; none where Ray does not answer in time."""
    call = ["python", "-c", NODES.format(url="http://127.0.0.1:8265")]
    asked = machine.run(call, check=False, stderr=subprocess.DEVNULL)
    nodes = json.loads(asked.stdout) if asked.returncode == 0 else []
    return sum(node["state"] == "ALIVE" and node["resources_total"].get("CPU", 0) > 0 for node in nodes)


def num_running(machine: Node) -> int:
    """Cells whose attempt runs now."""
    folder = machine.disk / "tmp" / "store" / STUDY["name"]
    if not (folder / "ledger.sqlite").exists():
        return 0
    return sum(outcome == "running" for _, _, outcome, _ in attempts_of(folder))


def test_a_cluster_grows_to_what_a_study_needs_and_shrinks_after_it(machine):
    (machine.disk / "tmp" / "study.yaml").write_text(json.dumps(STUDY), encoding="utf-8")
    assert num_workers(machine) == 0
    begun, log = time.monotonic(), machine.disk / "driver.log"
    command = "rse-study run /tmp/study.yaml --address auto --store /tmp/store"
    driver = machine.start(command, env={"RSE_STUDY_NODES": TYPES}, log=log)
    seen: list[tuple[int, int, int]] = []
    while driver.poll() is None:
        assert time.monotonic() < begun + 900, log.read_text(encoding="utf-8")
        seen.append((round(time.monotonic() - begun), num_workers(machine), num_running(machine)))
        time.sleep(1.0)
    said = log.read_text(encoding="utf-8")
    assert driver.returncode == 0, said
    assert max(workers for _, workers, _ in seen) == MOST, seen
    assert max(running for _, _, running in seen) == MOST, (seen, said)
    assert {outcome for _, _, outcome, _ in attempts_of(machine.disk / "tmp/store/grown")} == {"complete"}
    ended = time.monotonic()
    while left := num_workers(machine):
        assert time.monotonic() < ended + 60 * IDLE_MINUTES + 240, f"{left} workers are left"
        time.sleep(1.0)
    grown = next(seconds for seconds, workers, _ in seen if workers == MOST)
    gone = time.monotonic() - ended
    print(f"{MOST} nodes after {grown} s, none {gone:.0f} s after the study's end\n{said}")
