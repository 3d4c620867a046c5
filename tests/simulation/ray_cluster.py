"""A simulated Ray: its nodes and their workers, which may be lost."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from rse_study.cluster.node_capacity import Node, slots
from rse_study.errors import InputError
from rse_study.on_ray.nodes.cluster_watch import RayLost
from tests.simulation.scheduler import Process, Scheduler


@dataclass
class SimulatedNode:
    """A machine of the cluster."""

    node: Node
    workers: list["Worker"] = field(default_factory=list)


@dataclass(eq=False)
class Worker:
    """The process of a Tune trial."""

    trial: str
    config: dict[str, Any]
    node: SimulatedNode
    tell: Callable[[tuple], None]  # its driver
    process: Process = field(init=False)
    is_cut_off: bool = False  # its driver takes it for dead; it runs on until it has something to say
    num_answers: int = 0
    num_continues: int = 0


class Cluster:
    """A Ray: its nodes and actors; lost, or not."""

    def __init__(self, scheduler: Scheduler, fates: Any, sizes: list[int], *, is_own: bool) -> None:
        self.scheduler, self.fates, self.is_own = scheduler, fates, is_own
        self.nodes: dict[str, SimulatedNode] = {}
        self.actors: dict[str, Any] = {}  # Actor of ray_module, by name
        self.lost_reason, self._numbers = "", count(1)
        self.is_instant = is_own
        for size in sizes:
            self.join(size)

    def join(self, num_cpus: int) -> None:
        """Add a node."""
        number = next(self._numbers)
        name, identity = f"node-{number}", f"{number:056x}"  # Ray checks how ids look
        self.scheduler.say(f"{name} joins with {num_cpus} CPUs")
        self.nodes[name] = SimulatedNode(Node(name, {"CPU": float(num_cpus)}, {}, identity))

    def leave(self, name: str) -> None:
        """Take a node away: its workers die, or go on for a while where nobody hears them."""
        self.scheduler.say(f"{name} leaves")
        for worker in self.nodes.pop(name).workers:
            self.lose(worker, is_cut_off=self.fates.chance(0.5))

    def lose(self, worker: Worker, *, is_cut_off: bool) -> None:
        """Let a worker die, or let Ray believe so."""
        if is_cut_off and not worker.process.is_dead:
            worker.is_cut_off = True
            self.scheduler.say(f"{worker.process.name} is cut off")
            self.scheduler.task(self._undertaker, lambda: self._end_cut_off(worker))
            worker.tell(("end", worker, True))
        else:
            self.scheduler.kill(worker.process)

    def _end_cut_off(self, worker: Worker) -> None:
        self.scheduler.pause(min(self.fates.seconds(60), 1200.0))
        self.scheduler.kill(worker.process)

    @property
    def _undertaker(self) -> Process:
        return Process("cluster", "cluster")

    def fail(self, reason: str) -> None:
        """Lose the head: nobody answers any more."""
        self.scheduler.say(f"Ray is lost: {reason}")
        self.lost_reason = reason
        for name in list(self.nodes):
            self.leave(name)

    # What ClusterWatch asks of a Probe.

    def look(self) -> tuple[Node, ...]:
        if self.lost_reason:
            raise RayLost(self.lost_reason)
        return tuple(one.node for one in self.nodes.values())

    def clear(self) -> None:
        """End what a Ray of one's own left; see OwnRay."""
        for node in self.nodes.values() if self.is_own else ():
            for worker in node.workers:
                self.scheduler.kill(worker.process)

    def place(self, resources: Any) -> SimulatedNode | None:
        """Return a node with a free slot."""
        for one in self.nodes.values():
            running = [worker for worker in one.workers if not worker.process.is_dead]
            if len(running) < slots(one.node, resources):
                return one
        return None


@contextmanager
def joined(cluster: Cluster, is_back: Callable[[], bool]) -> Iterator[None]:
    """Ray for the time of a session; a cluster that is down refuses, as `launch` says it."""
    if not is_back():
        raise InputError("no cluster at 'head:6379' (refused)", where="--address", remedy="Start it")
    yield
