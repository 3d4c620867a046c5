"""A simulated Ray: nodes, workers, actors, and Tune's loop, as far as the driver asks for them."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from types import SimpleNamespace
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayActorError, RayError
from ray.tune.search import Searcher

from rse_study.cluster.node_capacity import Node, slots
from rse_study.errors import InputError
from rse_study.on_ray.nodes.cluster_watch import RayLost
from tests.simulation.scheduler import Process, Scheduler

LOOP = asyncio.new_event_loop()  # the coordinator's methods are coroutines
TUNE_POLL_SECONDS = 5.0  # Tune's own is 0.1: events wake it anyway
TUNE_BLOCKS_SECONDS = 600.0


def turn_loop() -> None:
    """Let every coroutine go as far as it can."""
    for _ in range(8):
        LOOP.call_soon(LOOP.stop)
        LOOP.run_forever()


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
        self.actors: dict[str, Actor] = {}
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


class Answer:
    """A future of Ray."""

    def __init__(self, actor: "Actor", call: Callable[[Any], Any]) -> None:
        self.actor, self.cluster, self.birth = actor, actor.cluster, actor.birth
        self.task = None if actor.instance is None else LOOP.create_task(call(actor.instance))
        turn_loop()

    @property
    def is_lost(self) -> bool:
        """Whether its actor died before it answered."""
        is_done = self.task is not None and self.task.done()
        return not is_done and (self.task is None or self.birth != self.actor.birth)

    @property
    def is_ready(self) -> bool:
        turn_loop()
        return self.is_lost or (self.task is not None and self.task.done())


class TaskFailed(RayError):
    """What a task raised, or its loss."""

    def __init__(self, cause: Exception | None) -> None:
        super().__init__(str(cause))
        self.cause = cause


class TaskAnswer:
    """The future of a task: a process of its own, which is started again where it dies."""

    def __init__(self, cluster: Cluster, work: Callable[[], Any], enter: Callable[[Process], None]) -> None:
        self.cluster, self._work, self._enter, self._tries_left = cluster, work, enter, 4
        self.is_ready, self.value, self.failure = False, None, TaskFailed(None)
        self._start()

    def _start(self) -> None:
        self._tries_left -= 1
        self.process = self.cluster.scheduler.process("worker-task", "node-task", self._run)
        self.process.at_death.append(self._died)
        self._enter(self.process)

    def _run(self) -> None:
        try:
            self.value, self.failure = self._work(), None
        except Exception as error:
            self.failure = TaskFailed(error)
        self.is_ready = self.process.is_dead = True

    def _died(self) -> None:
        if not self.is_ready and self._tries_left and not self.cluster.lost_reason:
            self._start()
        else:
            self.is_ready = True


class Actor:
    """A named actor, which Ray makes again without its state where its process dies."""

    def __init__(self, cluster: Cluster, kind: type) -> None:
        self.cluster, self.kind, self.birth, self.instance = cluster, kind, 0, kind()
        self._repeated: list[tuple[str, tuple[Any, ...]]] = []

    def die(self) -> None:
        self.cluster.scheduler.say("the coordinator's process dies")
        self.birth, self.instance = self.birth + 1, None

    def revive(self) -> None:
        self.cluster.scheduler.say("the coordinator is made again")
        self.instance = self.kind()
        for name, arguments in self._repeated:
            getattr(self, name).remote(*arguments)
        self._repeated.clear()

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> Answer:
            return Answer(self, lambda instance: getattr(instance, name)(*arguments))

        def call_again(*arguments: Any) -> None:
            if self.instance is None:
                self._repeated.append((name, arguments))
            else:
                call(*arguments)

        return SimpleNamespace(remote=call, options=lambda **given: SimpleNamespace(remote=call_again))


class RayModule:
    """The functions of `ray` that the driver and its workers call."""

    ObjectRef = Answer
    exceptions = ray.exceptions

    def __init__(self, scheduler: Scheduler, clusters: dict[int, Cluster]) -> None:
        self._scheduler, self._clusters = scheduler, clusters
        self.tune = SimpleNamespace(report=self._report)
        self.workers: dict[int, Worker] = {}  # by id of their process

    def adopt(self, process: Process, driver: Process) -> None:
        """Let a process be one of its driver's cluster."""
        self._clusters[id(process)] = self._clusters[id(driver)]

    @property
    def _cluster(self) -> Cluster:
        return self._clusters[id(self._process)]

    @property
    def _process(self) -> Process:
        assert self._scheduler.current is not None
        return self._scheduler.current.process

    def get_runtime_context(self) -> Any:
        worker = self.workers.get(id(self._process))
        name = worker.node.node.identity if worker else f"{0:056x}"
        return SimpleNamespace(get_node_id=lambda: name)

    def remote(self, what: Any) -> Any:
        """An actor's class, or a function that is a task."""

        def start(options: dict[str, Any], arguments: tuple[Any, ...]) -> Any:
            if not isinstance(what, type):
                driver = self._process
                return TaskAnswer(
                    self._cluster, lambda: what(*arguments), lambda one: self.adopt(one, driver)
                )
            actor = Actor(self._cluster, what)
            self._cluster.actors[options["name"]] = actor
            return actor

        def options(**given: Any) -> Any:
            return SimpleNamespace(remote=lambda *arguments: start(given, arguments))

        return SimpleNamespace(options=options)

    def get_actor(self, name: str, namespace: str) -> Actor:
        """ValueError, as of Ray, where it has ended."""
        return self._cluster.actors[name] if name in self._cluster.actors else self._no_actor(name)

    def _no_actor(self, name: str) -> Actor:
        raise ValueError(f"Failed to look up actor with name {name!r}")

    def wait(self, answers: list[Any], timeout: float) -> tuple[list[Any], list[Any]]:
        self._scheduler.wait_until(lambda: any(one.is_ready for one in answers), timeout)
        ready = [one for one in answers if one.is_ready]
        return ready, [one for one in answers if one not in ready]

    def get(self, answer: Any, timeout: float | None = None) -> Any:
        """Wait for an answer; of a Ray that is lost none comes, whatever the timeout."""
        cluster = answer.cluster
        if cluster.lost_reason and not self._scheduler.wait_until(lambda: False, 3600.0, every=600.0):
            raise RayActorError(error_msg="Ray is gone")
        if not self._scheduler.wait_until(lambda: answer.is_ready, timeout):
            raise GetTimeoutError("no answer in time")
        if isinstance(answer, TaskAnswer):
            if answer.failure is not None:
                raise answer.failure
            return answer.value
        if answer.is_lost:
            raise RayActorError(error_msg="the actor died")
        assert answer.task is not None
        return answer.task.result()

    def put(self, value: Any) -> Any:
        return value

    def kill(self, actor: Actor) -> None:
        actor.cluster.actors = {name: one for name, one in actor.cluster.actors.items() if one is not actor}

    def _report(self, metrics: dict[str, Any]) -> None:
        """Report a point and go on when the driver has taken it, as a function of Tune does."""
        worker, fates = self.workers[id(self._process)], self._cluster.fates
        self._scheduler.pause(fates.seconds(0.2))
        fates.moment("report")
        worker.num_answers += 1
        worker.tell(("result", worker, metrics))
        mine = worker.num_answers
        self._scheduler.wait_until(lambda: worker.num_continues >= mine, every=60.0)


def flattened(content: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what Tune hands on of a report: nested keys joined by a slash."""
    for key, value in content.items():
        if isinstance(value, dict):
            yield from flattened(value, f"{prefix}{key}/")
        else:
            yield f"{prefix}{key}", value


def tune_run(
    cluster: Cluster, module: RayModule, searcher: Any, trainable: Any, callback: Any, resources: Any
) -> None:
    """Run trials in the order and with the calls of Tune's controller, until the searcher has no more."""
    scheduler, fates = cluster.scheduler, cluster.fates
    driver = scheduler.current
    assert driver is not None
    events: deque[tuple] = deque()
    pending: list[tuple[str, dict[str, Any]]] = []
    running: list[Worker] = []
    numbers, is_over = count(1), False

    def tell(event: tuple) -> None:
        if driver.process.is_dead or (event[1].is_cut_off and event[0] == "result"):
            return
        events.append(event)
        scheduler.wake(driver)

    def ask() -> bool:
        nonlocal is_over
        trial = f"{next(numbers):05d}"
        suggested = None if is_over else searcher.suggest(trial)
        is_over = is_over or suggested == Searcher.FINISHED
        if suggested is None or is_over:
            return False
        pending.append((trial, suggested))
        return True

    def start(trial: str, config: dict[str, Any], node: SimulatedNode) -> None:
        worker = Worker(trial, config, node, tell)

        def work() -> None:
            module.workers[id(worker.process)] = worker
            try:
                trainable(config)
            except Exception:
                tell(("end", worker, True))
            else:
                tell(("end", worker, False))
            worker.process.is_dead = True

        name = f"worker-{driver.process.name.rpartition('-')[2]}.{trial.lstrip('0')}"
        worker.process = scheduler.process(name, node.node.name, work)
        module.adopt(worker.process, driver.process)
        worker.process.at_death.append(lambda: later(worker))
        node.workers.append(worker)
        running.append(worker)
        scheduler.say(f"{name} starts on {node.node.name}")

    def later(worker: Worker) -> None:
        """Ray notices a death after a while."""
        if not driver.process.is_dead:
            scheduler.task(Process("raylet", "cluster"), lambda: notice(worker))

    def notice(worker: Worker) -> None:
        scheduler.pause(fates.seconds(3))
        tell(("end", worker, True))

    def end_workers() -> None:
        """Ray ends the workers of a driver that has died, in its time; what they write then still counts."""
        for worker in running:
            if not worker.process.is_dead:
                worker.is_cut_off = True
                scheduler.task(Process("raylet", "cluster"), lambda one=worker: end_later(one))

    def end_later(worker: Worker) -> None:
        scheduler.pause(fates.seconds(10))
        scheduler.kill(worker.process)

    driver.process.at_death.append(end_workers)
    try:
        while not (is_over and not running and not pending):
            callback.on_step_begin(0, [])
            until = scheduler.now + TUNE_BLOCKS_SECONDS
            while not ask() and not running and not pending and not is_over and scheduler.now < until:
                scheduler.pause(1.0)
            while not is_over and len(pending) < 4 and ask():
                pass
            while pending and (node := cluster.place(resources)) is not None:
                start(*pending.pop(0), node)
            if not events:
                scheduler.pause(TUNE_POLL_SECONDS if running or pending else 0.1)
            if events:
                kind, worker, said = events.popleft()
                if worker not in running:
                    continue
                if kind == "result":
                    for _ in range(
                        1 + (said.get("final") is None and fates.chance(0.05))
                    ):  # now and then twice
                        searcher.on_trial_result(worker.trial, dict(flattened(said)))
                    worker.num_continues += 1
                    if not worker.process.is_dead:
                        scheduler.wake(worker.process.tasks[0])
                else:
                    running.remove(worker)
                    searcher.on_trial_complete(worker.trial, {}, error=said)
    finally:
        if not driver.process.is_dead:
            end_workers()
            driver.process.at_death.remove(end_workers)


@contextmanager
def joined(cluster: Cluster, is_back: Callable[[], bool]) -> Iterator[None]:
    """Ray for the time of a session; a cluster that is down refuses, as `launch` says it."""
    if not is_back():
        raise InputError("no cluster at 'head:6379' (refused)", where="--address", remedy="Start it")
    yield
