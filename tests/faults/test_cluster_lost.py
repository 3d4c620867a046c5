"""A cluster somebody else has started: refused without its token, and given up where its head is gone for good."""

import os
import secrets
import subprocess
import sys

import psutil
import pytest

from rse_study.results.files.ledger import Ledger
from tests.faults.drivers import ROOT, assert_equal, contents, kill_all, kill_part_of_ray
from tests.on_ray.cluster import running_cluster

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("faults")]
QUICK = """
from rse_study.on_ray import runtime
from rse_study.on_ray.nodes import cluster_watch
cluster_watch.UNREACHABLE_SECONDS, runtime.REJOIN_SECONDS = 5.0, 5.0
runtime.STUCK_SECONDS["joined"] = 10.0
"""
JOIN = """
import sys
from rse_study.on_ray.nodes.launch import ray_session
with ray_session(address=sys.argv[1]): print('in')
"""


@pytest.fixture
def head():
    """The address of a cluster of this test's own, and the process that has started it."""
    before = set(psutil.Process().children())
    with running_cluster(1) as address:
        (process,) = (
            child
            for child in set(psutil.Process().children()) - before
            if "cluster" in " ".join(child.cmdline())
        )
        yield address, process


def test_a_head_that_is_gone_for_good_ends_the_run_and_nothing_is_lost(head, scene, whole, cluster):
    address, process = head
    folder = scene.folder("headless")
    driver = scene.start(folder, address, patience={}, first=QUICK)
    said = []
    assert driver.stdout is not None
    for line in driver.stdout:
        said.append(line.rstrip())
        if line.startswith("progressed 0/0 2"):
            kill_part_of_ray(process, "gcs_server")
    # 1: given up after it could not be joined again; 3: the driver's thread hung in a question to the head.
    assert driver.wait(timeout=120) in (1, 3)
    assert f"Ray was lost: its head at {address} has not answered for 5 s" in "\n".join(said)
    assert said[-1].endswith("; the same command resumes the run")
    assert not [line for line in said if "rpc_client" in line or "(raylet)" in line]
    with Ledger.open(folder) as ledger:
        assert "failed" not in {cell.status for cell in ledger.cells()}
    # Without a head the rest of the cluster keeps both cores busy, and the next Ray would wait for minutes.
    kill_all([*process.children(recursive=True), process])
    scene.finish_here(folder, cluster)
    assert_equal(contents(folder), whole)


def test_who_has_no_token_of_the_cluster_or_another_ones_is_refused_at_once(cluster, tmp_path):
    """Each in a process of its own, side by side."""
    seen = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")}
    told = [seen, seen | {"RAY_AUTH_MODE": "disabled"}, seen | {"RAY_AUTH_MODE": "token"}]
    told.append(os.environ | {"RAY_AUTH_TOKEN": secrets.token_hex(32)})
    own = {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", JOIN, cluster]
    asking = [subprocess.Popen(command, cwd=ROOT, env=one | own, **pipes) for one in told]
    for process in asking:
        out, err = process.communicate(timeout=120)
        assert process.returncode != 0
        assert "in" not in out.split()
        assert f"InputError: --address: {cluster!r} was refused: the cluster asks for a token" in err
        assert "Set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN_PATH to the file" in err
