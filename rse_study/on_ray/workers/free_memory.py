"""What a cell's process holds of memory between two cells."""

import ctypes
import sys


def give_back_free_memory() -> None:
    """Return memory that is free to the machine.

    glibc keeps for each thread what that thread has freed, and a cell has threads of its own: without this a process
    grows with every cell that it runs (docs/results/performance.md). Other C libraries are left alone.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim:
            trim(0)
