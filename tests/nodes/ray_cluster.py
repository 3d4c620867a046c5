"""Ray on several nodes: a head that runs no cells, workers that come back, token authentication, fast checks."""

import json
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from subprocess import DEVNULL, Popen
from typing import Any

from tests.nodes.namespaces import Node

PORT, DASHBOARD_PORT = 6379, 8265
DRIVER = {"rse_driver": 1000}
TOKEN_PATH = "/tmp/home/token"
ENVIRONMENT = {
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN_PATH": TOKEN_PATH,
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",
    # A node is given up 5 to 15 s after its last word; by itself Ray takes up to a minute.
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "5000",
    "RAY_health_check_failure_threshold": "3",
}
"""what every process on the nodes needs"""
START = "ray start --node-ip-address={address} --object-store-memory=100000000 --temp-dir=/tmp/ray --block"
SUPERVISE = "while :; do {start}; sleep 1; done"  # `ray start --block` ends where its node is declared dead
NODES = """
import json, os, urllib.request as u
token = open(os.environ["RAY_AUTH_TOKEN_PATH"]).read().strip()
ask = u.Request("{url}/api/v0/nodes", headers={{"Authorization": "Bearer " + token}})
print(json.dumps(json.load(u.urlopen(ask, timeout=10))["data"]["result"]["result"]))
"""


class RayCluster:
    """A head with 0 CPUs and the driver's resource, and workers; nothing is shared but the network.

    `head_env`: variables for the head and the driver there, such as where the data are.
    """

    def __init__(
        self, head: Node, workers: list[Node], cpus: int = 1, head_env: Mapping[str, str] | None = None
    ) -> None:
        self.head, self.workers, self._cpus = head, workers, cpus
        self.address = f"{head.address}:{PORT}"
        self.dashboard = f"http://{head.address}:{DASHBOARD_PORT}"
        self._head_env, self._token = dict(head_env or {}), secrets.token_hex(32)
        self._raylets: dict[str, Popen[str]] = {}
        self.start_head()
        for worker in workers:
            self.start_worker(worker)

    def start_head(self) -> None:
        """Start Ray's first node, and again whenever it ends."""
        options = f"--head --port={PORT} --dashboard-host={self.head.address} --num-cpus=0"
        self._start(self.head, f"{options} --resources='{json.dumps(DRIVER)}'", self._head_env)

    def start_worker(self, worker: Node) -> None:
        """Start a worker node of Ray, and again whenever it is declared dead."""
        self._start(worker, f"--address={self.address} --num-cpus={self._cpus}", {})

    def restart(self, worker: Node, empty_disk: bool = False) -> None:
        """Give a worker power again after a cut, and Ray on it."""
        worker.restart(empty_disk=empty_disk)
        self.start_worker(worker)

    def give_token(self, node: Node) -> None:
        """Put the token where processes of a node find it."""
        path = node.disk / Path(TOKEN_PATH).relative_to("/")
        path.write_text(self._token, encoding="utf-8")
        path.chmod(0o600)

    def alive(self) -> list[dict[str, Any]]:
        """Nodes that Ray takes for alive; none where it does not answer."""
        code = NODES.format(url=self.dashboard)
        said = self.head.run(["python", "-c", code], check=False, stderr=DEVNULL, timeout=60)
        nodes = json.loads(said.stdout) if said.returncode == 0 else []
        return [node for node in nodes if node["state"] == "ALIVE"]

    def wait(self, num: int | None = None, seconds: float = 240.0) -> float:
        """Wait until so many nodes are alive (all, without a number); how long it took, in seconds."""
        wanted = len(self.workers) + 1 if num is None else num
        begun = time.monotonic()
        while len(alive := self.alive()) != wanted:
            assert time.monotonic() < begun + seconds, f"{len(alive)} of {wanted} nodes\n{self._logs()}"
            time.sleep(0.5)
        return time.monotonic() - begun

    def _start(self, node: Node, options: str, env: Mapping[str, str]) -> None:
        self.give_token(node)
        command = SUPERVISE.format(start=f"{START.format(address=node.address)} {options}")
        self._raylets[node.name] = node.start(command, env=env, log=node.disk / "ray.log")

    def _logs(self) -> str:
        logs = [node.disk / "ray.log" for node in (self.head, *self.workers)]
        return "\n".join(f"{log.parent.name}: {log.read_text()[-2000:]}" for log in logs if log.exists())
