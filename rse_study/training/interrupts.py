"""Ctrl-C once: running cells end cleanly and no other starts. Twice: stop now."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def graceful_interrupt(on_first: Callable[[], None]) -> Iterator[None]:
    """Call `on_first` at the first SIGINT; raise KeyboardInterrupt at the next one. The main thread's business only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seen = 0

    def heard(number: int, frame: FrameType | None) -> None:
        nonlocal seen
        seen += 1
        if seen > 1:
            raise KeyboardInterrupt
        on_first()

    before = signal.signal(signal.SIGINT, heard)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
