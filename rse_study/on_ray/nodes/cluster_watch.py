"""A thread that watches Ray and its nodes: calls to a Ray whose head is gone hang."""

import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Protocol, runtime_checkable

import psutil
import ray
from ray.exceptions import RayError

from rse_study.cluster.node_capacity import Node
from rse_study.on_ray.nodes.private_ray import CALL_SECONDS, ClusterHead

PERIOD_SECONDS = 1.0
UNREACHABLE_SECONDS = 60.0  # of a head that is gone: a cut link heals, or a head restarts, before
# Ray ends a process whose head is gone after 60 s (its own), or so many as `launch` sets for a cluster.
STUCK_SECONDS = {"own": 40.0, "joined": 60.0}
ESSENTIAL = {"gcs_server": "its head process (GCS) ended", "raylet": "its node process (raylet) ended"}
RAYLET_OF_WORKER = "RAY_RAYLET_PID"  # in the environment of a worker


class RayLost(BaseException):
    """Ray is gone; a BaseException, because Tune takes an Exception for a trial's own."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.num_cells = 0
        """cells that ran then and are tried again"""


@runtime_checkable
class Probe(Protocol):
    """One look at a Ray."""

    is_instant: bool
    """whether a look takes no time, so that the driver can look before each call"""

    def look(self) -> tuple[Node, ...]:
        """Return the live nodes; raise RayLost where Ray is gone."""

    def clear(self) -> None:
        """End processes that a lost Ray has left on this machine."""


class StartingRay:
    """The Ray that this process is starting, by the child processes so far.

    Ray itself waits for a minute for a head that has ended meanwhile, and then ends the process without a word.
    """

    is_instant = True

    def __init__(self) -> None:
        self._others = _children()
        self._seen: dict[str, psutil.Process] = {}

    def look(self) -> tuple[Node, ...]:
        for process in _children() - self._others:
            with suppress(psutil.NoSuchProcess):
                self._seen.setdefault(process.name(), process)
        for kind in ESSENTIAL.keys() & self._seen.keys():
            if _has_ended(self._seen[kind]):
                raise RayLost(f"{ESSENTIAL[kind]} while it started")
        return ()

    def clear(self) -> None:
        """Do nothing: nothing runs on it yet."""


class OwnRay:
    """The Ray that this process has started, by child processes."""

    is_instant = True

    def __init__(self) -> None:
        self._processes = {kind: _child(kind) for kind in ESSENTIAL}
        try:
            alive = [one for one in ray.nodes() if one["Alive"]]
        except RayError:  # the head has ended meanwhile
            raise RayLost(ESSENTIAL["gcs_server"]) from None
        self._nodes = tuple(
            Node(one["NodeManagerAddress"], one["Resources"], one["Labels"], one["NodeID"]) for one in alive
        )

    def look(self) -> tuple[Node, ...]:
        for kind, process in self._processes.items():
            if _has_ended(process):
                raise RayLost(ESSENTIAL[kind])
        return self._nodes

    def clear(self) -> None:
        """End workers of a killed raylet: they must not write into cells tried again."""
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get(RAYLET_OF_WORKER) == str(self._processes["raylet"].pid):
                    process.kill()


class JoinedRay:
    """A cluster that somebody else has started."""

    is_instant = False

    def __init__(self) -> None:
        self._address = ray.get_runtime_context().gcs_address
        self._own_node = ray.get_runtime_context().get_node_id()
        (own,) = (one for one in ray.nodes() if one["NodeID"] == self._own_node)
        self._raylet = _listener(own["RayletSocketName"])
        self._head = ClusterHead(self._address)
        self._answered = time.monotonic()
        self._nodes: tuple[Node, ...] = ()

    def look(self) -> tuple[Node, ...]:
        if self._raylet is not None and _has_ended(self._raylet):
            raise RayLost(f"{ESSENTIAL['raylet']} on the driver's node")
        try:
            alive = self._head.alive_nodes()
        except RayError:
            if time.monotonic() - self._answered > UNREACHABLE_SECONDS:
                said = f"its head at {self._address} has not answered for {UNREACHABLE_SECONDS:g} s"
                raise RayLost(said) from None
            return self._nodes
        self._answered = time.monotonic()
        if self._own_node not in alive:
            raise RayLost("the driver's node was declared dead")
        self._nodes = tuple(
            Node(one.node_manager_address, dict(one.resources_total), dict(one.labels), identity)
            for identity, one in alive.items()
        )
        return self._nodes

    def clear(self) -> None:
        """Do nothing: the processes of a joined cluster are not ours to end."""


class ClusterWatch:
    """A thread that looks at Ray every second, and ends a driver stuck after its loss."""

    def __init__(self, probe: Probe, exit_stuck: Callable[[str], None], stuck_seconds: float) -> None:
        self._probe, self._exit_stuck, self._stuck_seconds = probe, exit_stuck, stuck_seconds
        self._nodes = probe.look()
        self._reason = ""
        self._closed, self._heard = threading.Event(), threading.Event()
        threading.Thread(target=self._look_on, name="cluster watch", daemon=True).start()

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Nodes alive at the last look."""
        return self._nodes

    def check(self) -> None:
        """Raise RayLost where Ray is gone."""
        if not self._reason and self._probe.is_instant:
            self._look()
        if self._reason:
            self._heard.set()
            raise RayLost(self._reason)

    def clear(self) -> None:
        self._probe.clear()

    def close(self) -> None:
        self._closed.set()

    def _look_on(self) -> None:
        while not self._closed.wait(PERIOD_SECONDS):
            self._look()
            if self._reason:
                break
        if self._reason and not self._heard.wait(self._stuck_seconds) and not self._closed.is_set():
            self._exit_stuck(self._reason)

    def _look(self) -> None:
        try:
            self._nodes = self._probe.look()
        except RayLost as lost:
            self._reason = str(lost)


def _children() -> set[psutil.Process]:
    return set(psutil.Process().children())


def _child(name: str) -> psutil.Process:
    """Return this process's newest child of a name: one of a lost Ray may be there, too."""
    named = [one for one in _children() if one.name() == name]
    return max(named, key=psutil.Process.create_time)


def _listener(path: str) -> psutil.Process | None:
    """Return the process that listens at a socket, None if another container has it."""
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as end:
        end.settimeout(CALL_SECONDS)
        end.connect(path)
        pid, _, _ = struct.unpack("3i", end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return psutil.Process(pid) if pid else None


def _has_ended(process: psutil.Process) -> bool:
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
