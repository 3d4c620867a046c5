"""Defects put into the real code one at a time, to see that schedules find them.

    python -m tests.simulation.broken [SCHEDULES]

Prints the first seed that finds each, which is the number of schedules before it.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from rse_study.on_ray.queue.cell_queue import CellQueue
from rse_study.results.files.ledger import Ledger
from rse_study.search import budget
from tests.simulation import schedule, world
from tests.simulation.schedule import play
from tests.simulation.studies import STUDIES

real_finish, real_steps_of = CellQueue.finish, budget.steps_of


@wraps(real_finish)
def finish_and_forget(queue: CellQueue, *arguments: Any, **named: Any) -> Any:
    """A lost cell is not put into the queue again."""
    record = real_finish(queue, *arguments, **named)
    if record is None:
        queue._interrupted.pop()
    return record


def steps_of_the_ended(ledger: Any, metric: str, amount: float) -> tuple[float, float]:
    """Running cells are not counted against the budget."""
    spent, _ = real_steps_of(ledger, metric, amount)
    return spent, spent + amount


def steps_twice(ledger: Any, metric: str, amount: float) -> tuple[float, float]:
    """What is spent counts twice."""
    spent, with_next = real_steps_of(ledger, metric, amount)
    return 2 * spent, with_next + spent


def open_lock(path: Any) -> Any:
    """Two drivers may hold one ledger."""
    return path.open("a+")


def take_any_result(queue: CellQueue, cell: Any) -> Any:
    """A cell that goes on takes the result with which it had been stopped."""
    queue._files.bring_result(cell.identity)
    return queue._result_of(cell.identity)


def ignore(*arguments: Any, **named: Any) -> None:
    """Leave out a commit."""


ANY = tuple(STUDIES)
STOPPED = ("stopped", "budget")
DEFECTS: dict[str, tuple[Any, str, Callable[..., Any], tuple[str, ...]]] = {
    "a lost cell is not queued again": (CellQueue, "finish", finish_and_forget, ANY),
    "attempts of a driver that died stay open": (Ledger, "close_attempts", ignore, ANY),
    "the ledger's lock is not taken": (world, "real_take_lock", open_lock, ANY),
    "scores are not committed with the result": (Ledger, "record_evaluations", ignore, ("scored",)),
    "a verdict is given and never committed": (Ledger, "record_rung", ignore, STOPPED),
    "a stopped cell's result ends its continuation": (CellQueue, "_new_result_of", take_any_result, STOPPED),
    "running cells are not in the budget": (budget, "steps_of", steps_of_the_ended, ("budget",)),
    "steps count twice in the budget": (budget, "steps_of", steps_twice, ("budget",)),
}
"""with the studies in which they could be seen"""


@contextmanager
def broken(defect: str) -> Iterator[None]:
    """Put a defect into the code."""
    owner, name, replacement, _ = DEFECTS[defect]
    before = getattr(owner, name)
    setattr(owner, name, replacement)
    schedule.undisturbed.cache_clear()
    try:
        yield
    finally:
        setattr(owner, name, before)
        schedule.undisturbed.cache_clear()


def first_to_find(defect: str, num_schedules: int) -> tuple[int, str] | None:
    """Return the first seed that finds a defect, and in which words; None if none does."""
    with broken(defect):
        for seed in range(num_schedules):
            try:
                play(seed, names=DEFECTS[defect][3])
            except Exception as error:
                return seed, str(error).splitlines()[0][:100]
    return None


def main(num_schedules: int = 200) -> None:
    for defect in DEFECTS:
        found = first_to_find(defect, num_schedules)
        said = f"seed {found[0]}: {found[1]}" if found else f"not found in {num_schedules} schedules"
        print(f"{defect}: {said}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
