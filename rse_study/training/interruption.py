"""Ctrl-C between two steps, never inside one: what is saved then is whole."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupt_held_back() -> Iterator[Callable[[], bool]]:
    """Whether SIGINT has come; a second one raises KeyboardInterrupt at once. The main thread's business only."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    num_heard = 0

    def heard(number: int, frame: FrameType | None) -> None:
        nonlocal num_heard
        num_heard += 1
        if num_heard > 1:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, heard)
    try:
        yield lambda: num_heard > 0
    finally:
        signal.signal(signal.SIGINT, before)
