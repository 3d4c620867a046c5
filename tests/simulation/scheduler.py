"""Simulated processes, one of which runs at a time, and the clock that they share."""

import heapq
import random
import threading
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from itertools import count
from math import inf
from typing import Any, TextIO

LONGEST_DAYS = 2
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class Killed(BaseException):
    """Unwinds a process that was killed; no code of the project may catch it."""


class Violation(AssertionError):
    """A broken promise."""


class Process:
    """A simulated process: some tasks that die together."""

    def __init__(self, name: str, machine: str) -> None:
        self.name, self.machine, self.is_dead, self.code = name, machine, False, -1
        self.tasks: list[Task] = []
        self.locks: list[TextIO] = []  # files whose locks the kernel releases when the process dies
        self.at_death: list[Callable[[], None]] = []
        self.stopped_until = 0.0  # as by SIGSTOP
        self.interrupt: Callable[[], None] = lambda: None  # what it does at the first Ctrl-C
        self.num_interrupts = 0


class Task:
    """A thread of a simulated process; it runs only when the scheduler says so."""

    def __init__(self, process: Process, work: Callable[[], None], around: Callable[[], Any]) -> None:
        self.process, self.work, self.is_over, self.ticket, self._around = process, work, False, 0, around
        self.go, self.parked = threading.Lock(), threading.Lock()  # each handed over, never shared
        self.go.acquire(), self.parked.acquire()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.error: BaseException | None = None
        process.tasks.append(self)

    def _run(self) -> None:
        self.go.acquire()
        try:
            with self._around():
                if not self.process.is_dead:
                    self.work()
        except Killed:
            pass
        except BaseException as error:
            self.error = error
        self.is_over = True
        self.parked.release()


class Scheduler:
    """The order of events: a heap of times, drawn from one seed."""

    def __init__(
        self,
        seed: int,
        tell: Callable[[str], None] | None = None,
        around_thread: Callable[[], Any] = nullcontext,
    ) -> None:
        self.draw, self.now, self.num_events = random.Random(seed), 0.0, 0
        self.current: Task | None = None
        self._heap: list[tuple[float, int, Task, int]] = []
        self._number, self._pids, self._tell = count(), count(1000), tell
        self._around_thread = around_thread
        self.pids: dict[int, Process] = {}

    def say(self, text: str) -> None:
        """Add a line to the trace."""
        self.num_events += 1
        if self._tell is not None:
            who = self.current.process.name if self.current else "world"
            self._tell(f"{self.now:12.3f} {who:12} {text}")

    def process(self, name: str, machine: str, work: Callable[[], None]) -> Process:
        """Start a process."""
        process = Process(name, machine)
        self.pids[next(self._pids)] = process
        self.task(process, work)
        return process

    def task(self, process: Process, work: Callable[[], None]) -> Task:
        """Start a thread of a process."""
        task = Task(process, work, self._around_thread)
        task.thread.start()
        self.wake(task)
        return task

    def wake(self, task: Task, after: float = 0.0) -> None:
        """Let a task run on after some time; an earlier wish is forgotten."""
        task.ticket += 1
        heapq.heappush(self._heap, (self.now + after, next(self._number), task, task.ticket))

    def run(self, is_over: Callable[[], bool]) -> None:
        """Run tasks in the order of their times until `is_over`."""
        while not is_over():
            if not self._heap:
                raise Violation("all processes wait for each other")
            entry = heapq.heappop(self._heap)
            if self._is_stale(entry):
                continue
            at, _, task, _ = entry
            self.now = max(self.now, at)
            if task.process.stopped_until > self.now:
                self.wake(task, task.process.stopped_until - self.now)
                continue
            if self.now > LONGEST_DAYS * 86400:
                raise Violation(f"it hangs: not over after {LONGEST_DAYS} simulated days")
            self._resume(task)

    def _resume(self, task: Task) -> None:
        before, self.current = self.current, task
        task.go.release()
        task.parked.acquire()
        self.current = before
        if task.error is not None:
            error, task.error = task.error, None
            raise error

    def pause(self, seconds: float | None = None) -> None:
        """Wait in a simulated process: so many seconds, or until it is woken."""
        task = self.current
        assert task is not None and task.thread is threading.current_thread()
        self.live()
        if seconds is None:
            task.ticket += 1
        else:
            self.wake(task, seconds)
            if self._is_next(task):  # nobody else runs before: no thread need be switched
                self.live()
                return
        task.parked.release()
        task.go.acquire()
        self.live()

    def _is_next(self, task: Task) -> bool:
        """Move the clock to a task's time if it is the next to run."""
        while self._heap and self._is_stale(self._heap[0]):
            heapq.heappop(self._heap)
        at, _, first, _ = self._heap[0] if self._heap else (0.0, 0, None, 0)
        if first is not task or task.process.stopped_until > self.now or at > LONGEST_DAYS * 86400:
            return False
        heapq.heappop(self._heap)
        self.now = max(self.now, at)
        return True

    @staticmethod
    def _is_stale(entry: tuple[float, int, Task, int]) -> bool:
        _, _, task, ticket = entry
        return ticket != task.ticket or task.is_over or task.process.stopped_until == inf

    def live(self) -> None:
        """Raise where the process that runs now is dead, or was interrupted twice."""
        assert self.current is not None
        process = self.current.process
        if process.is_dead:
            raise Killed
        if process.num_interrupts > 1 and self.current is process.tasks[0]:
            process.num_interrupts = 0
            raise KeyboardInterrupt

    def wait_until(self, is_so: Callable[[], bool], timeout: float | None = None, every: float = 1.0) -> bool:
        """Look again and again; return whether it came to be so in time."""
        until = None if timeout is None else self.now + timeout
        while not is_so():
            if until is not None and self.now >= until:
                return False
            self.pause(every if until is None else min(every, max(until - self.now, 1e-3)))
        return True

    def kill(self, process: Process, code: int = -9) -> None:
        """End a process at once: nothing that it does afterwards has an effect."""
        if process.is_dead:
            return
        self.say(f"{process.name} is killed ({code})")
        process.is_dead, process.stopped_until, process.code = True, 0.0, code
        for stream in process.locks:
            stream.close()
        for task in list(process.tasks):
            if task is not self.current and not task.is_over:
                self._resume(task)
        for act in process.at_death:
            act()

    def pid_of(self, process: Process) -> int:
        return next(pid for pid, one in self.pids.items() if one is process)

    # What the project's modules see in place of `time`, `threading`, `os` and `datetime.now`.

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pause(seconds)

    def iso_now(self) -> str:
        return (EPOCH + timedelta(seconds=self.now)).isoformat(timespec="seconds")

    def event(self) -> "Event":
        return Event(self)

    def lock(self) -> "Lock":
        return Lock(self)

    def thread(self, target: Callable[..., None], args: tuple = (), name: str = "", daemon: bool = True):
        return Thread(self, lambda: target(*args))


class Event:
    """threading.Event, on the simulated clock."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler, self._is_set, self._waiting = scheduler, False, list[Task]()

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        self._is_set = True
        for task in self._waiting:
            if not task.is_over:
                self._scheduler.wake(task)
        self._waiting.clear()

    def clear(self) -> None:
        self._is_set = False

    def wait(self, timeout: float | None = None) -> bool:
        self._scheduler.live()
        if not self._is_set:
            task = self._scheduler.current
            assert task is not None
            self._waiting.append(task)
            self._scheduler.pause(timeout)
            if task in self._waiting:
                self._waiting.remove(task)
        return self._is_set


class Lock:
    """threading.Lock, held by one task at a time."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler, self._is_held = scheduler, False

    def __enter__(self) -> None:
        self._scheduler.wait_until(lambda: not self._is_held, every=5.0)
        self._is_held = True

    def __exit__(self, *raised: object) -> None:
        self._is_held = False


class Thread:
    """threading.Thread: another task of the process that made it."""

    def __init__(self, scheduler: Scheduler, work: Callable[[], None]) -> None:
        self._scheduler, self._work, self._task = scheduler, work, None

    def start(self) -> None:
        assert self._scheduler.current is not None
        self._task = self._scheduler.task(self._scheduler.current.process, self._work)

    def is_alive(self) -> bool:
        return self._task is not None and not self._task.is_over

    def join(self, timeout: float | None = None) -> None:
        self._scheduler.live()
        self._scheduler.wait_until(lambda: not self.is_alive(), timeout, every=0.5)
