"""A cluster over a real S3 server, nothing else shared, and a machine beside it for what must come out.

Four nodes and a fifth: head, two workers, storage; and the user's, from which studies are submitted and on which
each is run once without a cluster.
"""

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rse_study.data.location import cache_dir
from tests.nodes.namespaces import Node, Nodes
from tests.nodes.ray_cluster import ENVIRONMENT, RayCluster
from tests.nodes.s3_server import ACCESS, S3Server
from tests.nodes.submission import Submission

STORE = "/tmp/store"


class ProvingGround:
    """The cluster, its storage, and the user's machine."""

    def __init__(self, nodes: Nodes, data: Path | None) -> None:
        head, *workers, storage, self.user = nodes.all
        self.hidden, self._data = nodes.hidden, data
        for node in (head, self.user):
            self._furnish(node)
        self.storage = S3Server(storage)
        self.cluster = RayCluster(head, workers, cpus=1, head_env={"RSE_STUDY_DATA": "/tmp/data"})
        self.cluster.give_token(self.user)
        self.cluster.wait()

    def alone(self, study: Mapping[str, Any], cpus: int = 1) -> Path:
        """The study's folder after a run on the user's machine, where nothing else runs and nothing happens."""
        file = self.user.disk / "tmp" / f"{study['name']}.yaml"
        file.write_text(json.dumps(study), encoding="utf-8")
        command = f"rse-study run /tmp/{file.name} --store {STORE} --cpus {cpus}"
        self.user.run(command, env={"RSE_STUDY_DATA": "/tmp/data"}, timeout=900)
        return self.user.disk / STORE.lstrip("/") / study["name"]

    def submit(
        self,
        study: dict[str, Any],
        job: str = "",
        store: str = STORE,
        prefix: str = "",
    ) -> Submission:
        """Submit a study, from the user's machine, with its storage on the S3 server.

        Its job and its objects go by `job` and `prefix`, or by the study's name.
        """
        url = self.storage.url(prefix or study["name"])
        return Submission(self.cluster, self.user, study, url, store, job or study["name"])

    def _furnish(self, node: Node) -> None:
        """Give a driver's node the data, and spare it a minute where this machine has made the tiny encoder."""
        own = node.disk / "tmp"
        if self._data is not None:
            shutil.copytree(self._data, own / "data")
        for made in (cache_dir() / "assets").glob("t*"):
            shutil.copytree(made, own / "cache" / "assets" / made.name)


@contextmanager
def proving_ground(data: Path | None = None) -> Iterator[ProvingGround]:
    """A cluster of a head and two workers, a storage and a user's machine, up and running.

    The driver alone has the `data`.
    """
    with Nodes(5, env={**ENVIRONMENT, **ACCESS}, hidden=[data] if data else []) as nodes:
        yield ProvingGround(nodes, data)


def worker_of(ground: ProvingGround, title: str) -> Node:
    """A worker node on which a process of Ray with this word in its title runs, such as ImplicitFunc."""
    for worker in ground.cluster.workers:
        if f"ray::{title}" in worker.run(["ps", "-eo", "args"]).stdout:
            return worker
    raise AssertionError(f"no {title} runs on a worker")
