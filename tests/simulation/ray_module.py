"""The functions of `ray` that the driver and its workers call, on a simulated cluster."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayActorError, RayError

from tests.simulation.ray_cluster import Cluster, Worker
from tests.simulation.scheduler import Process, Scheduler

LOOP = asyncio.new_event_loop()  # the coordinator's methods are coroutines


def turn_loop() -> None:
    """Let every coroutine go as far as it can."""
    for _ in range(8):
        LOOP.call_soon(LOOP.stop)
        LOOP.run_forever()


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
