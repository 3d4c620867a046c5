"""A gloo group of processes on this machine, over loopback: no Ray, no free port."""

import multiprocessing
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
import torch.distributed as dist

from rse_study.distributed import Group
from rse_study.errors import InputError, NonFiniteLoss

Ask = Callable[[Any], Any]
Work = Callable[[Group, Ask], None]


@dataclass(frozen=True)
class WorkerEnded:
    """The last message of a worker."""

    error: InputError | NonFiniteLoss | None


class WorkerLost(Exception):
    """A worker was killed, or ended by a defect whose traceback is on stderr."""


def run_group(work: Work, size: int, *, threads: int = 1, answer: Ask = lambda question: None) -> None:
    """Run `work(group, ask)` in new processes that form a group.

    `ask(question)` in a worker returns `answer(question)` of this process; `work` and questions must pickle. However
    this ends, no process is left, not even if this process is killed. A worker's InputError or NonFiniteLoss is
    raised again as itself; any other end of a worker raises WorkerLost.
    """
    context = multiprocessing.get_context("spawn")
    pipes = [context.Pipe() for _ in range(size)]
    with TemporaryDirectory(prefix="rse-study-group-") as folder:
        processes: list[BaseProcess] = [
            context.Process(
                target=_join,
                args=(work, rank, size, threads, Path(folder), there),
                name=f"worker {rank} of {size}",
            )
            for rank, (_, there) in enumerate(pipes)
        ]
        try:
            with _interrupts_held():
                for process in processes:
                    process.start()
            for _, there in pipes:
                there.close()  # so that an end of file says that the worker has ended
            _attend(dict(zip((here for here, _ in pipes), processes, strict=True)), answer)
        finally:
            _end(processes)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Block SIGINT in new processes (Ctrl-C reaches all), and deliver our own afterwards."""
    resource_tracker.ensure_running()  # else the first start does it, and lets SIGINT through again
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    heard: list[int] = []
    # Another thread may take the signal, and Python would then interrupt this one in the middle of a start.
    is_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number)) if is_main else None
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        if before is not None:
            signal.signal(signal.SIGINT, before)
    if heard:
        signal.raise_signal(signal.SIGINT)


def _end(processes: list[BaseProcess]) -> None:
    for process in processes:
        if process.pid is not None:
            process.kill()
            process.join()


def _attend(members: dict[Connection, BaseProcess], answer: Ask) -> None:
    """Answer questions until all workers have ended; raise once a failure is clear."""
    running, rank_0 = dict(members), next(iter(members))
    while running:
        ready = wait(running)
        for end in [end for end in members if end in ready]:
            try:
                said = end.recv()
            except (EOFError, ConnectionResetError):
                members[end].join()
                raise WorkerLost(_how(members.values())) from None
            if not isinstance(said, WorkerEnded):
                with suppress(BrokenPipeError):  # it has died since; its end of file will say so
                    end.send(answer(said))
                continue
            del running[end]
            # A loss that is not finite fails every worker: rank 0 is worth waiting for, as it writes the result first.
            if isinstance(said.error, InputError) or (said.error and end is rank_0):
                raise said.error


def _how(processes: Iterable[BaseProcess]) -> str:
    """Describe the worker that failed: a killed one first, as others fail after it."""
    lost = min((p for p in processes if p.exitcode is not None), key=lambda p: p.exitcode or 0)
    code = lost.exitcode or 0
    how = f"was killed ({signal.Signals(-code).name})" if code < 0 else f"ended with exit code {code}"
    return f"{lost.name} {how}"


def _join(work: Work, rank: int, size: int, threads: int, folder: Path, parent: Connection) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ["GLOO_SOCKET_IFNAME"] = _loopback(name for _, name in socket.if_nameindex())
    torch.set_num_threads(threads)
    store = dist.FileStore(str(folder / "store"), size)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=size)
    parent.send(WorkerEnded(_outcome(work, partial(_ask, parent))))
    # A process that exits closes connections that others may still need: the parent ends all at once.
    parent.recv()


def _outcome(work: Work, ask: Ask) -> InputError | NonFiniteLoss | None:
    try:
        work(Group(), ask)
    except (InputError, NonFiniteLoss) as error:
        return error
    return None


def _loopback(names: Iterable[str]) -> str:
    """Return `lo` on Linux, `lo0` elsewhere: other machines cannot connect to it."""
    return next(name for name in names if name.startswith("lo"))


def _ask(parent: Connection, question: Any) -> Any:
    parent.send(question)
    return parent.recv()


def _end_with_parent() -> None:
    """Kill this process once its parent is gone, lest two runs share one folder."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os.kill(os.getpid(), signal.SIGKILL)
