"""Work done by several processes of a gloo group on this machine."""

import multiprocessing
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rse_study.distributed import Group
from rse_study.training.process_group import Ask, run_group

Work = Callable[[int, int, Path], None]
FORK = multiprocessing.get_context("fork")


@contextmanager
def forks() -> Iterator[None]:
    """Groups are forks of this process; those that `run_group` starts by itself import everything anew, for seconds."""
    context = SimpleNamespace(Pipe=FORK.Pipe, Process=_forked)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(multiprocessing, "get_context", lambda method: context)
        yield


def _forked(*, args: tuple[Any, ...], **named: Any) -> BaseProcess:
    """Its work goes through pickle, as that of a process that begins anew."""
    work, *rest = args
    return FORK.Process(args=(pickle.loads(pickle.dumps(work)), *rest), **named)


def in_group(work: Work, directory: Path, size: int = 2) -> None:
    """`work(rank, size, directory)` in processes that form a gloo group on this machine."""
    with forks():
        run_group(partial(_at_rank, work, directory), size)


def _at_rank(work: Work, directory: Path, group: Group, ask: Ask) -> None:
    work(group.rank, group.size, directory)
