"""Memory that a cell's process holds between two cells."""

import ctypes
import sys


def give_back_free_memory() -> None:
    """Return free memory to the machine.

    glibc keeps what each thread has freed, and every cell has threads of its own: without this a process
    grows with each cell it runs (docs/results/performance.md). Other C libraries are left alone.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim:
            trim(0)
