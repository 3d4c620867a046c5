"""Activities that take a while: their progress, and Ctrl-C handling.

A loop counts (`on_progress`), its caller names the activity (`advanced`), and only the command line draws.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Protocol, runtime_checkable

ProgressCallback = Callable[[int, int], None]
"""Called by a loop with the numbers done and in all."""


@runtime_checkable
class ActivityCallback(Protocol):
    """Receives the progress of activities, and messages about results."""

    def message(self, text: str) -> None:
        """Take a sentence for the user."""

    def advanced(self, activity: str, done: int, total: int, detail: str = "") -> None:
        """Take an activity's progress; it has ended when `done` equals `total`.

        The name also says the unit: "tiny: masked-LM steps". `detail` is anything else worth showing, such as the loss.
        """


class Silence:
    """An `ActivityCallback` that ignores everything."""

    def message(self, text: str) -> None:
        """Say nothing."""

    def advanced(self, activity: str, done: int, total: int, detail: str = "") -> None:
        """Show nothing."""


SILENCE = Silence()


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
