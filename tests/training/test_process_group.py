"""Processes of one machine: what they ask is answered here, what fails there is raised here, and nobody is left."""

import contextlib
import os
import select
import signal
from collections.abc import Iterator
from multiprocessing.connection import Connection

import pytest
import torch

from rse_study.distributed import Group
from rse_study.errors import InputError, NonFiniteLoss
from rse_study.training.process_group import Ask, WorkerLost, run_group
from tests.gloo import FORK, forks

pytestmark = pytest.mark.xdist_group("two_workers")
PATIENCE = 60.0  # seconds; ended processes are noticed at once


def talk(group: Group, ask: Ask) -> None:
    os.kill(os.getpid(), signal.SIGINT)  # as a terminal's Ctrl-C does; only the parent is to hear it
    answer = ask((group.rank, os.getpid(), torch.get_num_threads()))
    assert answer == 10 * group.rank
    total = group.sum(torch.tensor([float(answer)]))
    ask(("total", os.getpid(), int(total)))
    group.any(False)
    if group.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    group.any(False)


def misfit(group: Group, ask: Ask) -> None:
    if group.rank == 1:
        raise InputError("no such file", where="corpus", remedy="Make it")
    group.any(False)  # would wait for ever


def diverge(group: Group, ask: Ask) -> None:
    raise NonFiniteLoss("this worker's share is nan" if group.rank == 0 else "on another worker", 7)


def wait(group: Group, ask: Ask) -> None:
    ask(os.getpid())
    group.any(group.rank == 0 and bool(select.select([], [], [])))


def is_gone(pid: int) -> bool:
    """The process has ended, or does so soon."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    ended = bool(select.select([handle], [], [], PATIENCE)[0])
    os.close(handle)
    return ended


def test_questions_are_answered_here_and_a_killed_worker_ends_all() -> None:
    asked = []

    def answer(question: tuple) -> object:
        asked.append(question)
        return 10 * question[0] if question[0] != "total" else None

    with pytest.raises(WorkerLost, match=r"worker 1 of 2 was killed \(SIGKILL\)"):
        run_group(talk, 2, threads=2, answer=answer)
    assert sorted((who, what) for who, _, what in asked if who != "total") == [(0, 2), (1, 2)]
    assert [what for who, _, what in asked if who == "total"] == [10, 10]
    pids = {pid for _, pid, _ in asked}
    assert len(pids) == 2 and os.getpid() not in pids
    assert all(is_gone(pid) for pid in pids)


def test_what_is_wrong_is_raised_here_as_itself() -> None:
    with forks(), pytest.raises(InputError, match=r"corpus: no such file. Make it"):
        run_group(misfit, 2)
    with forks(), pytest.raises(NonFiniteLoss, match="step 7: this worker's share is nan") as lost:
        run_group(diverge, 2)  # rank 0's words
    assert lost.value.step == 7


@pytest.fixture
def hears_interrupts() -> Iterator[None]:
    """A suite that was started in the background ignores SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("hears_interrupts")
def test_an_interrupt_ends_all() -> None:
    pids: list[int] = []

    def answer(pid: int) -> None:
        pids.append(pid)
        if len(pids) == 2:
            os.kill(os.getpid(), signal.SIGINT)

    with forks(), pytest.raises(KeyboardInterrupt):
        run_group(wait, 2, answer=answer)
    assert all(is_gone(pid) for pid in pids)


def run_and_tell(sender: Connection) -> None:
    run_group(wait, 2, answer=sender.send)


@pytest.mark.slow
def test_nobody_outlives_a_killed_parent() -> None:
    receiver, sender = FORK.Pipe(duplex=False)
    parent = FORK.Process(target=run_and_tell, args=(sender,))
    parent.start()
    sender.close()
    pids = [receiver.recv() for _ in range(2)]
    os.kill(parent.pid or 0, signal.SIGKILL)
    parent.join()
    try:
        assert all(is_gone(pid) for pid in pids)
    finally:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
