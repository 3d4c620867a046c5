"""Work done by several processes of a gloo group on this machine. Imports little: every process imports it anew."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from rse_study.distributed import Group
from rse_study.training.process_group import Ask, run_group

Work = Callable[[int, int, Path], None]


def spawned(work: Work, directory: Path, size: int = 2) -> None:
    """`work(rank, size, directory)` in processes that form a gloo group on this machine."""
    run_group(partial(_at_rank, work, directory), size)


def _at_rank(work: Work, directory: Path, group: Group, ask: Ask) -> None:
    work(group.rank, group.size, directory)
