"""Verdicts for running cells, their reports and processes: a named Ray actor."""

import asyncio
import os
import secrets
import time
from collections.abc import Callable, Iterable
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from rse_study.on_ray.workers import CellPayload, Exchange
from rse_study.results.records import Verdict
from rse_study.tensors import Collectives
from rse_study.training.loop import Progress

NAMESPACE = "rse_study"
PATIENCE_SECONDS = 60.0  # a worker that gets no verdict for so long goes on
ANSWER_SECONDS = 5.0  # for what the driver asks while it waits
RETRY_SECONDS = 1.0  # between two questions to a coordinator that is made again
MAX_WAITING = 10_000
FOR_EVER = -1
ReportMetrics = Callable[[dict[str, Any]], None]
SCORED = "scored"
"""the only key of a report during scoring, with the number of evaluations done: a sign of life, no point"""
Verdicts = dict[tuple[str, int], Verdict]
"""by cell and step"""
Processes = dict[str, dict[int, tuple[str, int]]]
"""node id and pid, by cell and rank"""


class _CoordinatorActor(Exchange):
    """Verdicts by (cell, step), the processes of each cell, and the exchange."""

    def __init__(self) -> None:
        super().__init__()
        self._birth = secrets.token_hex(8)
        self._verdicts: Verdicts = {}
        self._news = asyncio.Condition()
        self._present: Processes = {}

    async def decide(self, cell: str, t: int, verdict: Verdict) -> None:
        async with self._news:
            self._verdicts[cell, t] = verdict
            self._news.notify_all()

    async def wait_for_verdict(self, cell: str, t: int) -> Verdict:
        async with self._news:
            await self._news.wait_for(lambda: (cell, t) in self._verdicts)
        return self._verdicts[cell, t]

    async def enter(self, cell: str, rank: int, node: str, pid: int) -> None:
        self._present.setdefault(cell, {})[rank] = (node, pid)

    async def leave(self, cell: str) -> list[tuple[str, int]]:
        """Forget the processes (node, pid) of a cell and return them."""
        return list(self._present.pop(cell, {}).values())

    async def content(self) -> tuple[str, Processes]:
        """Return which incarnation this is, and where cells run."""
        return self._birth, self._present

    async def restore(self, verdicts: Verdicts, present: Processes) -> None:
        """Take over the knowledge of the previous incarnation."""
        async with self._news:
            self._verdicts = verdicts | self._verdicts
            self._present = present | self._present
            self._news.notify_all()


class Coordinator:
    """The driver's side: gives verdicts and learns where cells run."""

    def __init__(self, name: str) -> None:
        # Not detached: it ends with the driver, and whoever still asks goes on without it. It lives on the driver's
        # node, which nobody takes away as they do a spot node; where its process is killed Ray makes it again.
        # Made here, not by a decorator: the class itself stays what it is.
        self.name = f"{name}-{secrets.token_hex(4)}"
        on_this_node = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        actor: Any = ray.remote(_CoordinatorActor).options(
            name=self.name,
            namespace=NAMESPACE,
            num_cpus=0,
            max_concurrency=MAX_WAITING,
            max_restarts=-1,
            scheduling_strategy=on_this_node,
        )
        self._actor: Any = actor.remote()
        self._verdicts: Verdicts = {}
        self._present: Processes = {}
        self._birth = ""
        self._has_cells = True
        self._answer: ray.ObjectRef | None = None

    def refresh(self) -> None:
        """Learn where cells run, or remind a restarted actor; never waits."""
        if self._answer is None:
            self._answer = self._actor.content.remote()
        elif ray.wait([self._answer], timeout=0)[0]:
            answer, self._answer = self._answer, None
            try:
                birth, present = ray.get(answer)
            except RayError:
                return  # it is being made again
            if self._birth and birth != self._birth:
                self._actor.restore.remote(self._verdicts, self._present)
                self._actor.keep_groups.remote(self._has_cells)
            else:
                self._present = present
            self._birth = birth

    def decide(self, cell: str, t: int, verdict: Verdict) -> None:
        """Give a cell's verdict at step `t`; a worker may ask before or after."""
        self._verdicts[cell, t] = verdict
        self._actor.decide.remote(cell, t, verdict)

    def expect(self, cell: str) -> None:
        """Forget where an earlier attempt at the cell ran: it starts anew."""
        self._present.pop(cell, None)
        self._actor.leave.remote(cell)

    def nodes_of(self, cell: str) -> set[str]:
        """Return ids of the nodes where a cell ran at the last refresh."""
        return {node for node, _ in self._present.get(cell, {}).values()}

    def processes(self, cell: str) -> Iterable[tuple[str, int]]:
        """Return node id and pid of every worker of a cell.

        If nobody answers, those that the last refresh knew.
        """
        try:
            return list(ray.get(self._actor.leave.remote(cell), timeout=PATIENCE_SECONDS))
        except (RayError, GetTimeoutError):  # it is made again: as the last refresh knew them
            return list(self._present.get(cell, {}).values())

    def keep_groups(self, has_cells: bool) -> None:
        """Tell workers without a cell to wait for another, or to end."""
        if has_cells != self._has_cells:
            self._has_cells = has_cells
            self._actor.keep_groups.remote(has_cells)

    def num_groups(self) -> int:
        """Return how many groups of workers remain; 0 where nobody answers."""
        try:
            return int(ray.get(self._actor.num_groups.remote(), timeout=ANSWER_SECONDS))
        except (RayError, GetTimeoutError):
            return 0

    def close(self) -> None:
        ray.kill(self._actor)


class CoordinatorClient:
    """A worker's side of the coordinator."""

    def __init__(self, name: str, cell: str, rank: int) -> None:
        self._name, self._cell, self._rank = name, cell, rank

    def enter(self, pid: int) -> None:
        """Report this worker's process, so that the watchdog can end it."""
        node = ray.get_runtime_context().get_node_id()
        try:
            enter = self._actor().enter.options(max_task_retries=FOR_EVER)  # it may be being made again
            enter.remote(self._cell, self._rank, node, pid)
        except ValueError:
            return  # the coordinator has ended: nobody watches any more

    def wait_for_verdict(self, t: int) -> Verdict:
        """Return the verdict at step `t`, or "continue" if none comes."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (left := deadline - time.monotonic()) > 0:
            try:
                answer = self._actor().wait_for_verdict.remote(self._cell, t)
                verdict: Verdict = ray.get(answer, timeout=left)
                return verdict
            except (ValueError, GetTimeoutError):
                break  # the driver has ended, or says nothing
            except RayError:
                time.sleep(RETRY_SECONDS)  # the coordinator is made again
        return "continue"

    def _actor(self) -> Any:
        return ray.get_actor(self._name, namespace=NAMESPACE)


class Reporter:
    """Reports every point; at rungs rank 0 asks, and all workers share the verdict."""

    def __init__(self, payload: CellPayload, collectives: Collectives, report: ReportMetrics) -> None:
        self._rungs = frozenset(payload.rungs)
        self._collectives, self._report = collectives, report
        self._coordinator = CoordinatorClient(payload.coordinator, payload.cell, collectives.rank)
        self._coordinator.enter(os.getpid())

    def scored(self, done: int, total: int) -> None:
        """Report that so many evaluations are done."""
        self._report({SCORED: done})

    def report(self, progress: Progress) -> Verdict:
        self._report({"t": progress.t, "num_steps": progress.num_steps, "metrics": dict(progress.metrics)})
        if progress.t not in self._rungs or progress.is_final:
            return "continue"
        stops = self._collectives.rank == 0 and self._coordinator.wait_for_verdict(progress.t) == "stop"
        return "stop" if self._collectives.any(stops) else "continue"


def exchange_call(coordinator: str, method: str, *arguments: Any) -> ray.ObjectRef:
    """Call a method of the coordinator's Exchange; Ray repeats it after a restart."""
    actor = ray.get_actor(coordinator, namespace=NAMESPACE)
    answer: ray.ObjectRef = getattr(actor, method).options(max_task_retries=FOR_EVER).remote(*arguments)
    return answer
