"""Tune's loop, on a simulated cluster: trials in the order and with the calls of its controller."""

from collections import deque
from collections.abc import Iterator
from itertools import count
from typing import Any

from ray.tune.search import Searcher

from tests.simulation.ray_cluster import Cluster, SimulatedNode, Worker
from tests.simulation.ray_module import RayModule
from tests.simulation.scheduler import Process

TUNE_POLL_SECONDS = 5.0  # Tune's own is 0.1: events wake it anyway
TUNE_BLOCKS_SECONDS = 600.0


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
