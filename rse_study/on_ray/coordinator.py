"""Verdicts for running cells, and which processes run them: a named actor of Ray."""

import asyncio
from collections.abc import Iterable
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayActorError

from rse_study.results.records import Verdict

NAMESPACE = "rse_study"
PATIENCE_SECONDS = 60.0  # a worker that gets no verdict for so long goes on
MAX_WAITING = 1000


class _CoordinatorActor:
    """Verdicts by (cell, step), and the processes of each cell."""

    def __init__(self) -> None:
        self._verdicts: dict[tuple[str, int], Verdict] = {}
        self._news = asyncio.Condition()
        self._present: dict[str, dict[int, tuple[str, int]]] = {}

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
        """The processes (node, pid) of a cell, which are forgotten."""
        return list(self._present.pop(cell, {}).values())


class Coordinator:
    """The driver's side: it gives verdicts and learns where cells run."""

    def __init__(self, name: str) -> None:
        # Not detached: it ends with the driver, and whoever still asks goes on without it.
        # Made here, not by a decorator: the class itself stays what it is.
        actor: Any = ray.remote(_CoordinatorActor)
        settings = {"num_cpus": 0, "max_concurrency": MAX_WAITING, "get_if_exists": True}
        self._actor: Any = actor.options(name=name, namespace=NAMESPACE, **settings).remote()
        self.name = name

    def decide(self, cell: str, t: int, verdict: Verdict) -> None:
        """Give a verdict; the worker may ask for it before or after.

        Parameters
        ----------
        cell : str
            Identity of the cell.
        t : int
            Step of the rung.
        verdict : "continue" or "stop"
            What all workers of the cell then do.
        """
        self._actor.decide.remote(cell, t, verdict)

    def expect(self, cell: str) -> None:
        """The cell is about to start: where an earlier attempt ran no longer counts."""
        self._actor.leave.remote(cell)

    def processes(self, cell: str) -> Iterable[tuple[str, int]]:
        """Node id and pid of every worker of a cell; given once, then forgotten."""
        return ray.get(self._actor.leave.remote(cell), timeout=PATIENCE_SECONDS)

    def close(self) -> None:
        """End the actor."""
        ray.kill(self._actor)


class CoordinatorClient:
    """A worker's side.

    Parameters
    ----------
    name : str
        Of the study's coordinator.
    cell : str
        Identity of the cell that runs here.
    rank : int
        Of this worker among those of the cell.
    """

    def __init__(self, name: str, cell: str, rank: int) -> None:
        self._name, self._cell, self._rank = name, cell, rank

    def enter(self, pid: int) -> None:
        """Say where this worker runs, so that the watchdog can end it."""
        node = ray.get_runtime_context().get_node_id()
        try:
            self._actor().enter.remote(self._cell, self._rank, node, pid)
        except ValueError:
            return  # the coordinator has ended: nobody watches any more

    def wait_for_verdict(self, t: int) -> Verdict:
        """The verdict on this cell at step `t`; "continue" where none comes."""
        try:
            answer = self._actor().wait_for_verdict.remote(self._cell, t)
            verdict: Verdict = ray.get(answer, timeout=PATIENCE_SECONDS)
        except (ValueError, GetTimeoutError, RayActorError):
            return "continue"
        return verdict

    def _actor(self) -> Any:
        return ray.get_actor(self._name, namespace=NAMESPACE)
