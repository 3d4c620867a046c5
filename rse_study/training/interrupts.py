"""Ctrl-C handling: once ends running work cleanly, twice stops it at once."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def graceful_interrupt(on_first: Callable[[], None] = lambda: None) -> Iterator[Callable[[], bool]]:
    """Hold back the first SIGINT inside; a second one raises KeyboardInterrupt.

    Yields a function that says whether SIGINT has come, so that work ends between two steps. Outside the main
    thread nothing is held back: Python handles signals in the main thread alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    num_interrupts = 0

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal num_interrupts
        num_interrupts += 1
        if num_interrupts > 1:
            raise KeyboardInterrupt
        on_first()

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield lambda: num_interrupts > 0
    finally:
        signal.signal(signal.SIGINT, before)
